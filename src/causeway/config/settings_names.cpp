#include <causeway/config/settings_names.hpp>
#include <causeway/config/settings_rows.hpp>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <vector>

namespace causeway {
namespace {

constexpr std::string_view kPrefixes[] = {"NVSHMEM_", "CAUSEWAY_"};

constexpr ForeignName kForeign[] = {
    {"NVSHMEM_MACHINE_READABLE_OUTPUT", "NVSHMEM's performance tests"},
    {"NVSHMEMTEST_*", "NVSHMEM's tests"},
    {"NVSHMEM_HOME", "build systems: where NVSHMEM is"},
    {"NVSHMEM_PREFIX", "build systems: where NVSHMEM is"},
    {"NVSHMEM_ROOT", "build systems: where NVSHMEM is"},
    {"NVSHMEM_DIR", "build systems: where NVSHMEM is"},
    {"NVSHMEM_BIN_DIR", "build systems: where NVSHMEM is"},
    {"NVSHMEM_INCLUDE_DIR", "build systems: where NVSHMEM is"},
    {"NVSHMEM_LIB_DIR", "build systems: where NVSHMEM is"},
    {"NVSHMEM_BUILD_*", "NVSHMEM's own build"},
    {"NVSHMEM_*_SUPPORT", "NVSHMEM's own build"},
    {"CAUSEWAY_PEER_*", "benchmarks: where the libraries to compare with are"},
};

bool matches(std::string_view name, std::string_view pattern) {
  const std::size_t star = pattern.find('*');
  if (star == std::string_view::npos) return name == pattern;
  const std::string_view before = pattern.substr(0, star), after = pattern.substr(star + 1);
  return name.size() > before.size() + after.size() && name.starts_with(before) && name.ends_with(after);
}

char upper(char c) { return static_cast<char>(std::toupper(static_cast<unsigned char>(c))); }

std::string_view without_prefix(std::string_view name) {
  for (const std::string_view prefix : kPrefixes)
    if (name.starts_with(prefix)) return name.substr(prefix.size());
  return name;
}

/// About one slip in four letters; more makes unlike names alike.
int slips_allowed(std::string_view text) { return std::clamp(static_cast<int>(text.size()) / 4, 1, 4); }

}  // namespace

std::span<const ForeignName> foreign_names() { return kForeign; }

bool has_our_prefix(std::string_view name) {
  return std::any_of(std::begin(kPrefixes), std::end(kPrefixes),
                     [&](std::string_view prefix) { return name.starts_with(prefix); });
}

bool is_foreign(std::string_view name) {
  return std::any_of(std::begin(kForeign), std::end(kForeign),
                     [&](const ForeignName& foreign) { return matches(name, foreign.pattern); });
}

int edit_distance(std::string_view a, std::string_view b, int limit) {
  const int rows = static_cast<int>(a.size()), columns = static_cast<int>(b.size());
  if (std::abs(rows - columns) > limit) return limit + 1;
  // Three rows of the usual table: a swap looks two rows back.
  std::vector<int> before(b.size() + 1), last(b.size() + 1), now(b.size() + 1);
  for (int j = 0; j <= columns; ++j) last[std::size_t(j)] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    now[0] = static_cast<int>(i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool equal = upper(a[i - 1]) == upper(b[j - 1]);
      now[j] = std::min({last[j] + 1, now[j - 1] + 1, last[j - 1] + (equal ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && upper(a[i - 1]) == upper(b[j - 2]) && upper(a[i - 2]) == upper(b[j - 1]);
      if (swapped) now[j] = std::min(now[j], before[j - 2] + 1);
    }
    std::swap(before, last);
    std::swap(last, now);
  }
  return std::min(last[b.size()], limit + 1);
}

std::string_view nearest_setting(std::string_view name) {
  const std::string_view own = without_prefix(name);
  const int limit = slips_allowed(own);
  int least = limit + 1;
  std::string_view nearest;
  for (const SettingRow& row : setting_rows()) {
    if (row.effect == SettingEffect::launcher) continue;
    const std::string_view known = without_prefix(row.name);
    const bool same_prefix = name.size() - own.size() == row.name.size() - known.size();
    const int distance = edit_distance(own, known, limit) + (same_prefix ? 0 : 1);
    if (distance >= least) continue;
    least = distance;
    nearest = row.name;
  }
  return nearest;
}

std::string_view nearest_word(std::string_view word, std::span<const std::string_view> candidates) {
  const int limit = std::clamp(static_cast<int>(word.size()) / 2, 1, 3);
  int least = limit + 1;
  std::string_view nearest;
  for (const std::string_view candidate : candidates) {
    const int distance = edit_distance(word, candidate, limit);
    if (distance >= least) continue;
    least = distance;
    nearest = candidate;
  }
  return nearest;
}

}  // namespace causeway
