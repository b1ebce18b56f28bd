// One row for each environment variable: what it accepts, its default, what it does and where it goes.
#pragma once
#include <causeway/config/settings.hpp>

#include <cstdint>
#include <limits>
#include <span>
#include <variant>

namespace causeway {

enum class SettingKind { boolean, integer, size, duration, choice, list, text };

enum class SettingEffect {
  honoured,   ///< an NVSHMEM name that means here what it means there
  ours,       ///< a CAUSEWAY name
  launcher,   ///< set by `causeway run` for its PEs
  no_effect,  ///< an NVSHMEM name that is known and changes nothing; the help says why
};

/// The field of Settings that a row fills, if any.
using SettingField = std::variant<std::monostate, bool Settings::*, int Settings::*, std::uint64_t Settings::*,
                                  std::chrono::nanoseconds Settings::*, std::string Settings::*,
                                  DebugLevel Settings::*>;

struct SettingRow {
  std::string_view name;
  SettingKind kind;
  SettingEffect effect;
  std::string_view standard;  ///< the default as one would write it; empty: not set
  std::string_view help;
  SettingField field = {};
  std::string_view words = {};  ///< of a choice, with | between
  /// Bounds of integers, sizes in bytes, and durations in nanoseconds.
  std::int64_t min = std::numeric_limits<std::int64_t>::min();
  std::int64_t max = std::numeric_limits<std::int64_t>::max();
};

/// Variables that do something, in the order in which they are shown.
[[nodiscard]] std::span<const SettingRow> working_rows();
/// NVSHMEM's variables that do nothing here.
[[nodiscard]] std::span<const SettingRow> idle_rows();
/// Both.
[[nodiscard]] std::span<const SettingRow> setting_rows();

/// Names that belong to others (tests, benchmarks, build systems) and are left alone. `pattern` may hold one *.
struct ForeignName {
  std::string_view pattern, help;
};
[[nodiscard]] std::span<const ForeignName> foreign_names();

}  // namespace causeway
