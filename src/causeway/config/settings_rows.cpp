// The rows of the variables that do something. See settings_rows.hpp.
#include <causeway/config/settings_rows.hpp>

#include <cstdint>

namespace causeway {
namespace {

using enum SettingKind;
using enum SettingEffect;
using S = Settings;

constexpr std::int64_t kKiB = 1 << 10, kGiB = 1 << 30, kTiB = std::int64_t{1} << 40;
constexpr std::int64_t kDay = std::int64_t{24} * 3600 * 1'000'000'000;
constexpr std::int64_t kIntMax = std::numeric_limits<int>::max();

constexpr SettingRow kRows[] = {
    // ---- NVSHMEM's
    {"NVSHMEM_SYMMETRIC_SIZE", size, honoured, "1G",
     "First segment of the symmetric heap of each PE, rounded up to what the machine maps; where it is not set and "
     "memory is short, less. The heap grows when nvshmem_malloc needs more.",
     &S::symmetric_bytes, "", 1, 64 * kTiB},
    {"NVSHMEM_MAX_TEAMS", integer, honoured, "1024",
     "How many teams a PE can be in at a time, the predefined ones included (the reference's default is 32).",
     &S::teams_max, "", 8, 65536},
    {"NVSHMEM_DEBUG", choice, honoured, "NONE",
     "How much is printed. Each word adds to those before it; warnings about the environment and errors are always "
     "printed. ABORT prints what INFO does: the library does not end the process.",
     &S::debug, "NONE|VERSION|WARN|INFO|ABORT|TRACE"},
    {"NVSHMEM_DEBUG_FILE", text, honoured, "",
     "The file to whose end information goes; %h in its name is the host's name, %p the process, %% a %. Not set: "
     "standard error.",
     &S::debug_file},
    {"NVSHMEM_VERSION", boolean, honoured, "0",
     "Print the library's version at start. A version number such as 3.4.5, as some container images set, counts as "
     "not set.",
     &S::print_version},
    {"NVSHMEM_INFO", boolean, honoured, "0", "Print all variables and their values at start.", &S::print_info},
    {"NVSHMEM_BOOTSTRAP_UID_SOCK_IFNAME", text, honoured, "",
     "Interfaces whose addresses go into a unique id, and at which alone its maker listens: prefixes of names with "
     "commas between; `=eth0` means exactly eth0, a list that starts with ^ names those to leave out. Not set: all.",
     &S::uid_interfaces},
    {"NVSHMEM_BOOTSTRAP_UID_SOCK_FAMILY", choice, honoured, "",
     "Which addresses go into a unique id, and are listened at. Not set: both families.", &S::uid_family,
     "AF_INET|AF_INET6"},

    // ---- ours
    {"CAUSEWAY_HEAP_STRIDE", size, ours, "0",
     "Distance between the heaps of two PEs in the address space, and so the most that a heap can grow to; rounded up "
     "to a power of two. 0: above all memory there is, or less if that much cannot be reserved.",
     &S::heap_stride_bytes, "", 0, 64 * kTiB},
    {"CAUSEWAY_WAIT_REPORT", duration, ours, "30",
     "A wait this long says which PE waits for what, and goes on waiting. 0: never.", &S::wait_report, "", 0,
     365 * kDay},
    {"CAUSEWAY_WAIT_TIMEOUT", duration, ours, "0",
     "A wait this long ends with a report, and later calls of its PE fail. 0: never.", &S::wait_timeout, "", 0,
     365 * kDay},
    {"CAUSEWAY_LEAK_REPORT", boolean, ours, "1",
     "nvshmem_finalize names the symmetric memory that was never freed: blocks, bytes, and where it was allocated.",
     &S::report_leaks},
    {"CAUSEWAY_BOOTSTRAP_TIMEOUT", duration, ours, "120",
     "How long a PE tries to reach the other PEs at start, and waits for one's part of the heap when it grows.",
     &S::bootstrap_timeout, "", 1'000'000, 365 * kDay},
    {"CAUSEWAY_MACHINE", choice, ours, "",
     "What `causeway cc` builds for. Not set: cuda where there are a GPU and nvcc, else cpu.", &S::machine, "cpu|cuda"},
    {"CAUSEWAY_CUDA_PREFIX", text, ours, "",
     "The installation with lib/libcauseway.so, for `causeway cc --machine cuda`. Not set: this one, or the build "
     "directory `cuda` beside it.",
     &S::cuda_prefix},
    {"CAUSEWAY_CPU_WORKERS", integer, ours, "0",
     "CPU machine: threads of a process that run kernels. 0: one a usable CPU.", &S::cpu_workers, "", 0, 4096},
    {"CAUSEWAY_CPU_STACK", size, ours, "64K",
     "CPU machine: stack of one thread of a kernel, rounded up to whole pages.", &S::cpu_stack_bytes, "", 16 * kKiB,
     kGiB},
    {"CAUSEWAY_CPU_DEVICES", integer, ours, "0",
     "CPU machine: what cudaGetDeviceCount says. 0: the number of PEs on the node.", &S::cpu_devices, "", 0, 4096},
    {"CAUSEWAY_CPU_MULTIPROCESSORS", integer, ours, "132",
     "CPU machine: multiprocessors of a device. Each holds 2048 threads of kernels at a time, in at most 32 blocks.",
     &S::cpu_multiprocessors, "", 1, 4096},

    // ---- the launcher's
    {"CAUSEWAY_PE", integer, launcher, "", "Number of this PE.", {}, "", 0, kIntMax},
    {"CAUSEWAY_PES", integer, launcher, "", "Number of PEs of the job.", {}, "", 1, kIntMax},
    {"CAUSEWAY_NODES", integer, launcher, "", "Number of emulated nodes: `causeway run --nodes`.", {}, "", 1, kIntMax},
    {"CAUSEWAY_BOOTSTRAP_FD", integer, launcher, "", "The inherited socket to the launcher.", {}, "", 0, kIntMax},
    {"CAUSEWAY_JOB", text, launcher, "", "The job's secret: 32 hexadecimal digits."},
};

}  // namespace

std::span<const SettingRow> working_rows() { return kRows; }

}  // namespace causeway
