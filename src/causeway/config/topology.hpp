// What this host has, as far as this process may use it: CPUs, memory, GPUs. Reads files and hwloc; makes no CUDA call.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace causeway {

struct NumaNode {
  int number = 0;
  int cpus = 0;  ///< those of them that the process may use
  std::uint64_t memory_bytes = 0;
};

/// A GPU of the NVIDIA driver that has a device file here.
struct GpuInfo {
  int number = 0;      ///< of /dev/nvidia<number>
  std::string name;    ///< empty when the driver's files cannot be read
  std::string bus;     ///< PCI address; empty likewise
  int numa_node = -1;  ///< -1: unknown
};

struct MemorySizes {
  std::uint64_t total_bytes = 0;  ///< of the machine; 0: unknown
  std::optional<std::uint64_t>
      available_bytes;                       ///< without swapping, within the process's control groups; else unknown
  std::optional<std::uint64_t> limit_bytes;  ///< the tightest limit of its control groups
};

struct Topology {
  std::string host_name;
  /// Equal for processes that can share memory: same boot of the same machine, same host name, same user namespace. Two
  /// containers of one machine usually differ.
  std::uint64_t host_id = 0;

  int cpus_online = 0;               ///< hardware threads of the machine
  int cpus_allowed = 0;              ///< those in this thread's affinity
  int cores_allowed = 0;             ///< physical cores that these belong to
  std::optional<double> cpu_quota;   ///< CPUs' worth of time that the control groups grant
  int cpus_usable = 0;               ///< the lesser of the last two, at least 1
  std::vector<NumaNode> numa_nodes;  ///< by number; those with CPUs that the process may use

  std::uint64_t memory_total_bytes = 0;  ///< this and the following as in MemorySizes
  std::optional<std::uint64_t> memory_available_bytes, memory_limit_bytes;

  std::vector<GpuInfo> gpus;   ///< by number
  std::string driver_version;  ///< of the NVIDIA kernel driver; empty: none is loaded
};

/// Reads everything. `root` stands for "/" in the names of files, for tests; CPUs are always those of this machine.
[[nodiscard]] Topology read_topology(const std::filesystem::path& root = "/");

/// Topology::host_name alone; host_id alone.
[[nodiscard]] std::string read_host_name();
[[nodiscard]] std::uint64_t read_host_id(const std::filesystem::path& root = "/");

/// The sizes alone: much cheaper, and what is available changes.
[[nodiscard]] MemorySizes read_memory_sizes(const std::filesystem::path& root = "/");

}  // namespace causeway
