// What is read of a host: this one for CPUs, made-up directory trees for everything that is a file.
#include <causeway/config/topology.hpp>
#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <thread>

namespace causeway {
namespace {

namespace fs = std::filesystem;

/// A directory that stands for "/" and goes with the test.
class FakeRoot {
 public:
  FakeRoot() {
    std::string name = (fs::temp_directory_path() / "causeway-topology-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
    path_ = name;
  }
  ~FakeRoot() { fs::remove_all(path_); }
  FakeRoot(const FakeRoot&) = delete;
  FakeRoot& operator=(const FakeRoot&) = delete;

  FakeRoot& file(const std::string& name, const std::string& text) {
    fs::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name) << text;
    return *this;
  }
  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

constexpr std::uint64_t kMiB = 1 << 20;
const std::string kMeminfo = "MemTotal:       8388608 kB\nMemFree:         100 kB\nMemAvailable:   4194304 kB\n";

TEST(Topology, ThisHost) {
  const Topology here = read_topology();
  EXPECT_FALSE(here.host_name.empty());
  EXPECT_GE(here.cpus_online, 1);
  EXPECT_GE(here.cpus_allowed, here.cores_allowed);
  EXPECT_LE(here.cpus_allowed, here.cpus_online);
  EXPECT_GE(here.cpus_usable, 1);
  EXPECT_LE(here.cpus_usable, here.cpus_allowed);
  EXPECT_FALSE(here.numa_nodes.empty());
  EXPECT_EQ(here.memory_total_bytes / kMiB,
            std::uint64_t(::sysconf(_SC_PHYS_PAGES)) * std::uint64_t(::sysconf(_SC_PAGESIZE)) / kMiB);
  ASSERT_TRUE(here.memory_available_bytes);
  EXPECT_GT(*here.memory_available_bytes, 0u);
  EXPECT_LE(*here.memory_available_bytes, here.memory_total_bytes);
  EXPECT_EQ(read_topology().host_id, here.host_id);
}

TEST(Topology, FollowsTheAffinityOfTheThread) {
  cpu_set_t before;
  ASSERT_EQ(::sched_getaffinity(0, sizeof before, &before), 0);
  // In a thread of its own, whose affinity ends with it.
  std::thread([&] {
    int first = 0;
    while (!CPU_ISSET(first, &before)) ++first;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    ASSERT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);
    const Topology here = read_topology();
    EXPECT_EQ(here.cpus_allowed, 1);
    EXPECT_EQ(here.cores_allowed, 1);
    EXPECT_EQ(here.cpus_usable, 1);
    ASSERT_EQ(here.numa_nodes.size(), 1u);
    EXPECT_EQ(here.numa_nodes[0].cpus, 1);
  }).join();
  EXPECT_EQ(read_topology().cpus_allowed, CPU_COUNT(&before));
}

TEST(Topology, HostIdDependsOnTheBoot) {
  FakeRoot one, other;
  one.file("proc/sys/kernel/random/boot_id", "11111111-0000-0000-0000-000000000000\n");
  other.file("proc/sys/kernel/random/boot_id", "22222222-0000-0000-0000-000000000000\n");
  const std::uint64_t id = read_topology(one.path()).host_id;
  EXPECT_NE(id, read_topology(other.path()).host_id);
  EXPECT_EQ(id, read_topology(one.path()).host_id);
  // Where a container hides user namespaces of their own behind one boot, they are told apart.
  fs::create_directories(one.path() / "proc/self/ns");
  fs::create_symlink("user:[4026531837]", one.path() / "proc/self/ns/user");
  EXPECT_NE(id, read_topology(one.path()).host_id);
}

TEST(Topology, EmptyRootGivesNothingAndNoError) {
  const FakeRoot root;
  const Topology here = read_topology(root.path());
  EXPECT_EQ(here.memory_total_bytes, 0u);
  EXPECT_FALSE(here.memory_available_bytes) << "unknown, which is not 0";
  EXPECT_FALSE(here.cpu_quota);
  EXPECT_FALSE(here.memory_limit_bytes);
  EXPECT_TRUE(here.gpus.empty());
  EXPECT_EQ(here.driver_version, "");
  EXPECT_EQ(here.cpus_usable, here.cpus_allowed);
}

TEST(Topology, LimitsOfTheUnifiedHierarchy) {
  FakeRoot root;
  root.file("proc/meminfo", kMeminfo)
      .file("proc/self/cgroup", "0::/pod/container\n")
      .file("sys/fs/cgroup/pod/container/memory.max", "max\n")
      .file("sys/fs/cgroup/pod/container/memory.current", "1048576\n")
      .file("sys/fs/cgroup/pod/container/cpu.max", "max 100000\n")
      .file("sys/fs/cgroup/pod/memory.max", "2147483648\n")
      .file("sys/fs/cgroup/pod/memory.current", "1073741824\n")
      .file("sys/fs/cgroup/pod/memory.stat", "anon 5\nfile 6\ninactive_file 536870912\n")
      .file("sys/fs/cgroup/pod/cpu.max", "50000 100000\n");
  const Topology here = read_topology(root.path());
  EXPECT_EQ(here.memory_total_bytes, 8192 * kMiB);
  EXPECT_EQ(here.memory_limit_bytes, 2048 * kMiB);
  EXPECT_EQ(here.memory_available_bytes, (2048 - 1024 + 512) * kMiB);
  EXPECT_EQ(here.cpu_quota, 0.5);
  EXPECT_EQ(here.cpus_usable, 1);
}

TEST(Topology, LimitsOfTheOldHierarchy) {
  FakeRoot root;
  root.file("proc/meminfo", kMeminfo)
      .file("proc/self/cgroup", "7:memory:/docker/abc\n3:cpu,cpuacct:/docker/abc\n1:name=systemd:/\n0::/\n")
      // As inside a container: what is mounted is the container's own group.
      .file("sys/fs/cgroup/memory/memory.limit_in_bytes", "1073741824\n")
      .file("sys/fs/cgroup/memory/memory.usage_in_bytes", "805306368\n")
      .file("sys/fs/cgroup/memory/memory.stat", "inactive_file 1\ntotal_inactive_file 268435456\n")
      .file("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "250000\n")
      .file("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  const MemorySizes sizes = read_memory_sizes(root.path());
  EXPECT_EQ(sizes.limit_bytes, 1024 * kMiB);
  EXPECT_EQ(sizes.available_bytes, 512 * kMiB);
  EXPECT_EQ(read_topology(root.path()).cpu_quota, 2.5);
}

TEST(Topology, NoLimits) {
  FakeRoot root;
  root.file("proc/meminfo", kMeminfo)
      .file("proc/self/cgroup", "7:memory:/\n3:cpu:/\n")
      .file("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n")
      .file("sys/fs/cgroup/memory/memory.usage_in_bytes", "805306368\n")
      .file("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n")
      .file("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  const Topology here = read_topology(root.path());
  EXPECT_FALSE(here.memory_limit_bytes);
  EXPECT_EQ(here.memory_available_bytes, 4096 * kMiB);
  EXPECT_FALSE(here.cpu_quota);
}

TEST(Topology, UsedMoreThanTheLimit) {
  FakeRoot root;
  root.file("proc/meminfo", kMeminfo)
      .file("proc/self/cgroup", "0::/\n")
      .file("sys/fs/cgroup/memory.max", "1048576\n")
      .file("sys/fs/cgroup/memory.current", "2097152\n");
  EXPECT_EQ(read_memory_sizes(root.path()).available_bytes, 0u);
}

TEST(Topology, Gpus) {
  FakeRoot root;
  root.file("dev/nvidia10", "").file("dev/nvidia2", "").file("dev/nvidiactl", "").file("dev/nvidia-uvm", "");
  root.file("proc/driver/nvidia/gpus/0000:0a:00.0/information",
            "Model: \t\t NVIDIA H200\nIRQ:   \t\t 33\nGPU UUID: \t GPU-1\nDevice Minor: \t 2\n")
      .file("proc/driver/nvidia/gpus/0000:0b:00.0/information", "Model: \t\t NVIDIA H100\nDevice Minor: \t 3\n")
      .file("proc/driver/nvidia/gpus/0000:0c:00.0/information", "garbage")
      .file("sys/bus/pci/devices/0000:0a:00.0/numa_node", "1\n")
      .file("proc/driver/nvidia/version",
            "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  570.86.15  Release Build\nGCC version: gcc "
            "12.2.0\n");
  const Topology here = read_topology(root.path());
  ASSERT_EQ(here.gpus.size(), 2u) << "only those with a device file can be used";
  EXPECT_EQ(here.gpus[0].number, 2);
  EXPECT_EQ(here.gpus[0].name, "NVIDIA H200");
  EXPECT_EQ(here.gpus[0].bus, "0000:0a:00.0");
  EXPECT_EQ(here.gpus[0].numa_node, 1);
  EXPECT_EQ(here.gpus[1].number, 10);
  EXPECT_EQ(here.gpus[1].name, "");
  EXPECT_EQ(here.gpus[1].numa_node, -1);
  EXPECT_EQ(here.driver_version, "570.86.15");
  root.file("sys/module/nvidia/version", "580.1\n");
  EXPECT_EQ(read_topology(root.path()).driver_version, "580.1");
}

}  // namespace
}  // namespace causeway
