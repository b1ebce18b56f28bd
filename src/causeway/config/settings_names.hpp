// Names that look like ours and are not: whose they are, and which known name was probably meant.
#pragma once
#include <span>
#include <string>
#include <string_view>

namespace causeway {

/// Does the name start with a prefix under which every name should be known: NVSHMEM_ or CAUSEWAY_?
[[nodiscard]] bool has_our_prefix(std::string_view name);

/// Does the name belong to tests, benchmarks or build systems (foreign_names())?
[[nodiscard]] bool is_foreign(std::string_view name);

/// Insertions, deletions, replacements and swaps of neighbours that make one text the other; `limit` + 1 when it takes
/// more than `limit`. Letters of both cases count as equal.
[[nodiscard]] int edit_distance(std::string_view a, std::string_view b, int limit);

/// The known variable that the name is most like, also under the other prefix; empty if there is none like it.
[[nodiscard]] std::string_view nearest_setting(std::string_view name);

/// The candidate that the word is most like, for subcommands and words; empty if there is none like it.
[[nodiscard]] std::string_view nearest_word(std::string_view word, std::span<const std::string_view> candidates);

}  // namespace causeway
