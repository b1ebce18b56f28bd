// The strict parser of one variable's value. Pure functions of row and text.
#pragma once
#include <causeway/config/settings_rows.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace causeway {

/// A parsed value: boolean; integer; size in bytes or duration in nanoseconds; choice (its number and spelling); list;
/// text.
struct ChosenWord {
  int number = 0;
  std::string word;
};
using ParsedValue = std::variant<bool, std::int64_t, std::uint64_t, std::chrono::nanoseconds, ChosenWord,
                                 std::vector<std::string>, std::string>;

/// Throws Error(invalid_value) that names the variable, the value and the accepted form.
[[nodiscard]] ParsedValue parse_value(const SettingRow& row, std::string_view text);

/// What the row accepts, as it stands in errors: "a size such as 512M, 1G or 1.5G".
[[nodiscard]] std::string accepted_form(const SettingRow& row);

/// The value in its shortest accepted form: "1536M", "500ms".
[[nodiscard]] std::string value_text(const ParsedValue& value);

/// The bytes or nanoseconds in the largest unit that divides them.
[[nodiscard]] std::string size_text(std::uint64_t bytes);
[[nodiscard]] std::string duration_text(std::chrono::nanoseconds duration);

/// The words of a row that is a choice.
[[nodiscard]] std::vector<std::string_view> words_of(const SettingRow& row);

/// The text without control characters and not longer than a line, since it comes from outside; and that in quotes.
[[nodiscard]] std::string escaped(std::string_view text);
[[nodiscard]] std::string quoted(std::string_view text);

}  // namespace causeway
