#include <causeway/base/digest.hpp>
#include <causeway/base/error.hpp>
#include <causeway/config/topology.hpp>
#include <hwloc.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <functional>
#include <limits>
#include <memory>
#include <sstream>

namespace causeway {
namespace {

namespace fs = std::filesystem;

/// Empty when it cannot be read: everything here is optional on some system.
std::string read_file(const fs::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  if (file) text << file.rdbuf();
  return text.str();
}

std::string trimmed(const std::string& text) {
  const std::size_t start = text.find_first_not_of(" \t\n"), end = text.find_last_not_of(" \t\n");
  return start == std::string::npos ? "" : text.substr(start, end - start + 1);
}

std::optional<std::uint64_t> number_at(const std::string& text, std::size_t at = 0) {
  at = text.find_first_not_of(" \t", at);
  if (at == std::string::npos) return std::nullopt;
  std::uint64_t value = 0;
  if (std::from_chars(text.data() + at, text.data() + text.size(), value).ec != std::errc{}) return std::nullopt;
  return value;
}

/// What follows `key` at the start of a line, up to the line's end.
std::optional<std::string> line_after(const std::string& text, const std::string& key) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with(key)) return trimmed(line.substr(key.size()));
  return std::nullopt;
}

std::optional<std::uint64_t> number_after(const std::string& text, const std::string& key) {
  const auto rest = line_after(text, key);
  return rest ? number_at(*rest) : std::nullopt;
}

/// Calls `visit` with the directory of every control group that the process is in, from its own up to the root, for the
/// unified hierarchy (version 2) or that of one controller (version 1). In a container the path may name groups outside
/// of what is mounted; those directories do not exist and are passed over.
void each_group(const fs::path& root, const std::string& controller,
                const std::function<void(const fs::path& directory)>& visit) {
  const fs::path mount = root / "sys/fs/cgroup";
  std::istringstream lines(read_file(root / "proc/self/cgroup"));
  for (std::string line; std::getline(lines, line);) {
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const bool unified = controllers == ",,";
    if (!unified && controllers.find("," + controller + ",") == std::string::npos) continue;
    const fs::path base = !unified ? mount / controller : mount;
    for (fs::path path = fs::path(line.substr(second + 1)).relative_path();; path = path.parent_path()) {
      std::error_code ignored;
      if (const fs::path directory = base / path; fs::is_directory(directory, ignored)) visit(directory);
      if (path.empty()) break;
    }
  }
}

std::optional<double> read_cpu_quota(const fs::path& root) {
  std::optional<double> least;
  each_group(root, "cpu", [&](const fs::path& directory) {
    std::istringstream unified(read_file(directory / "cpu.max"));
    double quota = 0, period = 0;
    if (!(unified >> quota >> period)) {                                                 // also when it says "max"
      quota = double(number_at(read_file(directory / "cpu.cfs_quota_us")).value_or(0));  // -1: none, no number to us
      period = double(number_at(read_file(directory / "cpu.cfs_period_us")).value_or(0));
    }
    if (quota > 0 && period > 0) least = std::min(least.value_or(quota / period), quota / period);
  });
  return least;
}

/// Version 1 writes "no limit" as a number close to 2^63.
constexpr std::uint64_t kNoLimit = std::uint64_t{1} << 60;

void apply_group_limits(const fs::path& root, MemorySizes& sizes) {
  each_group(root, "memory", [&](const fs::path& directory) {
    auto limit = number_at(read_file(directory / "memory.max"));
    auto used = number_at(read_file(directory / "memory.current"));
    std::string inactive = "inactive_file ";
    if (!limit) {
      limit = number_at(read_file(directory / "memory.limit_in_bytes"));
      used = number_at(read_file(directory / "memory.usage_in_bytes"));
      inactive = "total_inactive_file ";
    }
    if (!limit || *limit >= kNoLimit) return;
    sizes.limit_bytes = std::min(sizes.limit_bytes.value_or(*limit), *limit);
    // Cached file pages that nobody uses count as used, but make room when it is needed.
    const std::uint64_t cached = number_after(read_file(directory / "memory.stat"), inactive).value_or(0);
    const std::uint64_t held = used.value_or(0) - std::min(used.value_or(0), cached);
    const std::uint64_t left = *limit - std::min(*limit, held);
    sizes.available_bytes = std::min(sizes.available_bytes.value_or(left), left);
  });
}

struct HwlocDestroy {
  void operator()(hwloc_topology_t topology) const { hwloc_topology_destroy(topology); }
};
struct BitmapFree {
  void operator()(hwloc_bitmap_t bitmap) const { hwloc_bitmap_free(bitmap); }
};
using Bitmap = std::unique_ptr<hwloc_bitmap_s, BitmapFree>;

/// How many objects of a kind have a CPU in the set.
int count_in(hwloc_topology_t topology, hwloc_obj_type_t type, hwloc_const_bitmap_t cpus) {
  int count = 0;
  for (hwloc_obj_t object = nullptr; (object = hwloc_get_next_obj_by_type(topology, type, object)) != nullptr;)
    count += hwloc_bitmap_intersects(object->cpuset, cpus) != 0;
  return count;
}

/// hwloc leaves input and output devices out unless asked, so none of its plug-ins touches a GPU here.
void read_cpus(Topology& result) {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) fail(Status::internal, "hwloc cannot start: it returned an error from its init");
  const std::unique_ptr<hwloc_topology, HwlocDestroy> topology(raw);
  if (hwloc_topology_load(raw) != 0) fail_errno("hwloc cannot read the topology of this machine");

  const Bitmap cpus(hwloc_bitmap_alloc());
  if (!cpus) fail(Status::out_of_memory, "hwloc cannot allocate a set of CPUs");
  if (hwloc_get_cpubind(raw, cpus.get(), HWLOC_CPUBIND_THREAD) != 0)
    hwloc_bitmap_copy(cpus.get(), hwloc_topology_get_allowed_cpuset(raw));
  hwloc_bitmap_and(cpus.get(), cpus.get(), hwloc_topology_get_topology_cpuset(raw));

  result.cpus_online = hwloc_get_nbobjs_by_type(raw, HWLOC_OBJ_PU);
  result.cpus_allowed = std::max(1, hwloc_bitmap_weight(cpus.get()));
  result.cores_allowed = count_in(raw, HWLOC_OBJ_CORE, cpus.get());
  const Bitmap here(hwloc_bitmap_alloc());
  for (hwloc_obj_t node = nullptr; (node = hwloc_get_next_obj_by_type(raw, HWLOC_OBJ_NUMANODE, node)) != nullptr;) {
    if (!here) break;
    hwloc_bitmap_and(here.get(), node->cpuset, cpus.get());
    const int count = hwloc_bitmap_weight(here.get());
    if (count > 0)
      result.numa_nodes.push_back({static_cast<int>(node->os_index), count, node->attr->numanode.local_memory});
  }
  std::sort(result.numa_nodes.begin(), result.numa_nodes.end(),
            [](const NumaNode& a, const NumaNode& b) { return a.number < b.number; });
}

std::uint64_t hash_host(const fs::path& root, const std::string& host_name) {
  std::string identity = trimmed(read_file(root / "proc/sys/kernel/random/boot_id"));
  if (identity.empty()) identity = trimmed(read_file(root / "etc/machine-id"));
  std::error_code ignored;
  identity += '\n' + host_name + '\n' + fs::read_symlink(root / "proc/self/ns/user", ignored).string();
  return digest_of(identity.data(), identity.size());
}

/// "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue Mar  5 ...": the first word of digits and dots.
std::string read_driver_version(const fs::path& root) {
  if (std::string version = trimmed(read_file(root / "sys/module/nvidia/version")); !version.empty()) return version;
  std::istringstream words(line_after(read_file(root / "proc/driver/nvidia/version"), "NVRM version:").value_or(""));
  for (std::string word; words >> word;)
    if (word.find('.') != std::string::npos && word.find_first_not_of("0123456789.") == std::string::npos) return word;
  return "";
}

std::vector<GpuInfo> read_gpus(const fs::path& root) {
  std::vector<GpuInfo> gpus;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(root / "dev", ignored)) {
    const std::string name = entry.path().filename();
    int number = 0;
    const char* const end = name.data() + name.size();
    if (!name.starts_with("nvidia")) continue;
    const auto [stop, error] = std::from_chars(name.data() + 6, end, number);
    if (error == std::errc{} && stop == end && number >= 0) gpus.push_back({number, "", "", -1});
  }
  std::sort(gpus.begin(), gpus.end(), [](const GpuInfo& a, const GpuInfo& b) { return a.number < b.number; });
  for (const auto& entry : fs::directory_iterator(root / "proc/driver/nvidia/gpus", ignored)) {
    const std::string text = read_file(entry.path() / "information");
    const auto minor = number_after(text, "Device Minor:");
    const auto gpu =
        std::find_if(gpus.begin(), gpus.end(), [&](const GpuInfo& g) { return minor && g.number == int(*minor); });
    if (gpu == gpus.end()) continue;
    gpu->name = line_after(text, "Model:").value_or("");
    gpu->bus = entry.path().filename();
    if (const auto node = number_at(read_file(root / "sys/bus/pci/devices" / gpu->bus / "numa_node")))
      gpu->numa_node = static_cast<int>(*node);  // -1, for unknown, is no number to us
  }
  return gpus;
}

}  // namespace

MemorySizes read_memory_sizes(const fs::path& root) {
  const std::string text = read_file(root / "proc/meminfo");
  MemorySizes sizes;
  sizes.total_bytes = number_after(text, "MemTotal:").value_or(0) * 1024;
  if (const auto available = number_after(text, "MemAvailable:"))
    sizes.available_bytes = *available * 1024;
  else if (sizes.total_bytes > 0)
    sizes.available_bytes = sizes.total_bytes;
  // Without /proc the system still says how much there is, though not how much of it can be had.
  if (const long pages = ::sysconf(_SC_PHYS_PAGES); sizes.total_bytes == 0 && root == "/" && pages > 0)
    sizes.total_bytes = std::uint64_t(pages) * std::uint64_t(::sysconf(_SC_PAGESIZE));
  apply_group_limits(root, sizes);
  return sizes;
}

std::string read_host_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return "localhost";
  return name.data();
}

std::uint64_t read_host_id(const fs::path& root) { return hash_host(root, read_host_name()); }

Topology read_topology(const fs::path& root) {
  Topology result;
  result.host_name = read_host_name();
  result.host_id = hash_host(root, result.host_name);
  read_cpus(result);
  result.cpu_quota = read_cpu_quota(root);
  result.cpus_usable = result.cpus_allowed;
  if (result.cpu_quota && *result.cpu_quota < result.cpus_allowed)
    result.cpus_usable = std::max(1, static_cast<int>(std::ceil(*result.cpu_quota)));

  const MemorySizes sizes = read_memory_sizes(root);
  result.memory_total_bytes = sizes.total_bytes;
  result.memory_available_bytes = sizes.available_bytes;
  result.memory_limit_bytes = sizes.limit_bytes;
  result.gpus = read_gpus(root);
  result.driver_version = read_driver_version(root);
  return result;
}

}  // namespace causeway
