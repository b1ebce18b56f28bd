// Every environment variable that the library knows, read once into typed fields. The table is in settings_rows*.cpp.
#pragma once
#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace causeway {

using Environment = std::map<std::string, std::string>;

/// The environment of this process, now.
[[nodiscard]] Environment process_environment();

/// What NVSHMEM_DEBUG asks for; each level prints what those before it print.
enum class DebugLevel { none, version, warn, info, abort, trace };

enum class SettingSource { standard, environment };

/// A row of the table as it came out, for `causeway info`. `text` is the value in its shortest accepted form.
struct SettingValue {
  std::string_view name;
  std::string text;
  SettingSource source = SettingSource::standard;
};

/// A variable under one of our prefixes that means nothing; `nearest` is empty when no known name is like it.
struct UnknownName {
  std::string name, nearest;
};

/// A line for the user. Every PE reads the same environment, so it is enough that one PE of a job prints them.
struct SettingMessage {
  bool is_warning = true;
  std::string text;
};

struct Settings {
  /// All fields have the defaults of the table.
  Settings();

  // Memory
  std::uint64_t symmetric_bytes = 0;    ///< NVSHMEM_SYMMETRIC_SIZE: the first segment of the heap
  std::uint64_t heap_stride_bytes = 0;  ///< CAUSEWAY_HEAP_STRIDE; 0: chosen
  bool report_leaks = false;            ///< CAUSEWAY_LEAK_REPORT
  int teams_max = 0;                    ///< NVSHMEM_MAX_TEAMS

  // What is printed
  DebugLevel debug = DebugLevel::none;  ///< NVSHMEM_DEBUG
  std::string debug_file;               ///< NVSHMEM_DEBUG_FILE, unexpanded: see debug_file_path
  bool print_version = false;           ///< NVSHMEM_VERSION
  bool print_info = false;              ///< NVSHMEM_INFO

  // How PEs find each other
  std::string uid_interfaces;                    ///< NVSHMEM_BOOTSTRAP_UID_SOCK_IFNAME, as UniqueIdOptions takes it
  std::string uid_family;                        ///< NVSHMEM_BOOTSTRAP_UID_SOCK_FAMILY; empty: both
  std::chrono::nanoseconds bootstrap_timeout{};  ///< CAUSEWAY_BOOTSTRAP_TIMEOUT

  // Waits
  std::chrono::nanoseconds wait_report{};   ///< CAUSEWAY_WAIT_REPORT; 0: never
  std::chrono::nanoseconds wait_timeout{};  ///< CAUSEWAY_WAIT_TIMEOUT; 0: never

  // The CPU machine and the tools
  int cpu_workers = 0;                ///< CAUSEWAY_CPU_WORKERS; 0: one a usable CPU
  std::uint64_t cpu_stack_bytes = 0;  ///< CAUSEWAY_CPU_STACK
  int cpu_devices = 0;                ///< CAUSEWAY_CPU_DEVICES; 0: as many as PEs on the node
  int cpu_multiprocessors = 0;        ///< CAUSEWAY_CPU_MULTIPROCESSORS: of a device
  std::string machine;                ///< CAUSEWAY_MACHINE: cpu, cuda, or empty: chosen
  std::string cuda_prefix;            ///< CAUSEWAY_CUDA_PREFIX

  std::vector<SettingValue> values;      ///< one for each row of the table, in its order
  std::vector<UnknownName> unknown;      ///< sorted by name
  std::vector<std::string> malformed;    ///< one line for each; empty in what read_settings returns
  std::vector<SettingMessage> messages;  ///< warnings always, information from DebugLevel::info on

  /// The value of a variable by its full name; throws Error(invalid_value) for a name that is not in the table.
  [[nodiscard]] const SettingValue& value(std::string_view name) const;
};

/// Reads all known variables. A variable that is set but empty counts as not set. Throws Error(invalid_value) that
/// names each malformed variable, its value and the accepted form; a malformed value of a variable without effect is
/// only a warning, since nothing depends on it.
[[nodiscard]] Settings read_settings(const Environment& environment);

/// The same, but malformed values are listed in `malformed` and their fields keep the default. For `causeway info`.
[[nodiscard]] Settings inspect_settings(const Environment& environment);

/// The file that NVSHMEM_DEBUG_FILE names, with %h and %p replaced by host name and process id, and %% by %.
[[nodiscard]] std::string debug_file_path(std::string_view pattern, std::string_view host, int process_id);

/// Prints the messages: warnings to standard error, information there or, from DebugLevel::info on, to the end of the
/// file that NVSHMEM_DEBUG_FILE names.
void print_messages(const Settings& settings);

enum class TableFormat { plain, markdown };

/// All variables with their accepted forms, defaults, values and help. The markdown of Settings{} is docs/settings.md.
[[nodiscard]] std::string settings_table(const Settings& settings, TableFormat format);

}  // namespace causeway
