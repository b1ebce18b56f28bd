#include <causeway/base/error.hpp>
#include <causeway/base/numbers.hpp>
#include <causeway/config/settings_parse.hpp>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <span>

namespace causeway {
namespace {

struct Unit {
  std::string_view name;
  std::uint64_t factor;
};

// The first spelling of a factor is the one that is printed. All are powers of 1024, as in the reference, whose readers
// also write GB for what is a GiB.
constexpr std::uint64_t kKiB = 1 << 10, kMiB = kKiB << 10, kGiB = kMiB << 10, kTiB = kGiB << 10;
constexpr Unit kSizeUnits[] = {{"T", kTiB},   {"G", kGiB},   {"M", kMiB},   {"K", kKiB},   {"", 1},
                               {"TiB", kTiB}, {"GiB", kGiB}, {"MiB", kMiB}, {"KiB", kKiB}, {"TB", kTiB},
                               {"GB", kGiB},  {"MB", kMiB},  {"KB", kKiB},  {"B", 1}};

constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr Unit kTimeUnits[] = {{"h", 3600 * kSecond}, {"m", 60 * kSecond}, {"s", kSecond}, {"ms", 1'000'000},
                               {"us", 1'000},         {"ns", 1},           {"", kSecond},  {"min", 60 * kSecond}};

__extension__ using Wide = unsigned __int128;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
char lower(char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c; }

bool equal_words(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return lower(x) == lower(y); });
}

/// Takes the digits off the front of the text.
std::string_view take_digits(std::string_view& text) {
  const auto end = std::find_if_not(text.begin(), text.end(), is_digit);
  const std::string_view digits = text.substr(0, std::size_t(end - text.begin()));
  text.remove_prefix(digits.size());
  return digits;
}

/// A decimal number and a unit, multiplied exactly and rounded up: rounding a small timeout down would make it "never".
std::optional<std::uint64_t> parse_scaled(std::string_view text, std::span<const Unit> units) {
  constexpr std::size_t decimals_max = 18;  // 10^18 times a TiB is less than 2^128
  const std::string_view whole = take_digits(text);
  std::string_view decimals;
  if (!text.empty() && text.front() == '.') {
    text.remove_prefix(1);
    decimals = take_digits(text);
  }
  if (whole.size() + decimals.size() == 0 || decimals.size() > decimals_max) return std::nullopt;
  const auto unit = std::find_if(units.begin(), units.end(), [&](const Unit& u) { return equal_words(u.name, text); });
  if (unit == units.end()) return std::nullopt;

  constexpr std::uint64_t most = std::numeric_limits<std::int64_t>::max();
  std::uint64_t number = 0;
  if (!whole.empty() && std::from_chars(whole.begin(), whole.end(), number).ec != std::errc{}) return std::nullopt;
  Wide fraction = 0, scale = 1;
  for (const char digit : decimals) {
    fraction = fraction * 10 + unsigned(digit - '0');
    scale *= 10;
  }
  const Wide result = Wide{number} * unit->factor + divided_up(fraction * unit->factor, scale);
  if (result > most) return std::nullopt;
  return static_cast<std::uint64_t>(result);
}

std::string scaled_text(std::uint64_t value, std::span<const Unit> units) {
  for (const Unit& unit : units)
    if (value != 0 && value % unit.factor == 0) return fmt::format("{}{}", value / unit.factor, unit.name);
  return fmt::format("{}", value);
}

std::optional<bool> parse_boolean(std::string_view text) {
  for (const std::string_view word : {"1", "true", "yes", "on", "y", "t"})
    if (equal_words(text, word)) return true;
  for (const std::string_view word : {"0", "false", "no", "off", "n", "f"})
    if (equal_words(text, word)) return false;
  return std::nullopt;
}

/// Decimal, or hexadecimal after 0x: traffic classes and such are written so.
std::optional<std::int64_t> parse_integer(std::string_view text) {
  const bool hexadecimal = text.starts_with("0x") || text.starts_with("0X");
  if (hexadecimal) text.remove_prefix(2);
  if (hexadecimal && text.starts_with('-')) return std::nullopt;
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.begin(), text.end(), value, hexadecimal ? 16 : 10);
  if (error != std::errc{} || end != text.end() || text.empty()) return std::nullopt;
  return value;
}

std::optional<ChosenWord> parse_choice(const SettingRow& row, std::string_view text) {
  const std::vector<std::string_view> words = words_of(row);
  for (std::size_t i = 0; i < words.size(); ++i)
    if (equal_words(words[i], text)) return ChosenWord{static_cast<int>(i), std::string(words[i])};
  return std::nullopt;
}

std::optional<std::vector<std::string>> parse_list(std::string_view text) {
  std::vector<std::string> names;
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t end = std::min(text.find(',', start), text.size());
    if (end == start) return std::nullopt;
    names.emplace_back(text.substr(start, end - start));
    start = end + 1;
  }
  return names;
}

[[noreturn]] void fail_form(const SettingRow& row, std::string_view text, std::string_view limits = {}) {
  fail(Status::invalid_value, "{}={}: {}{}", row.name, quoted(text), accepted_form(row), limits);
}

template <class T>
T require(const std::optional<T>& value, const SettingRow& row, std::string_view text) {
  if (!value) fail_form(row, text);
  return *value;
}

/// Of a size or a duration.
std::uint64_t require_within(std::optional<std::uint64_t> value, const SettingRow& row, std::string_view text,
                             std::span<const Unit> units) {
  const std::uint64_t number = require(value, row, text);
  const std::uint64_t min = row.min < 0 ? 0 : std::uint64_t(row.min), max = std::uint64_t(row.max);
  if (number < min || number > max)
    fail_form(row, text, fmt::format(", from {} to {}", scaled_text(min, units), scaled_text(max, units)));
  return number;
}

std::string words_form(const SettingRow& row) {
  const auto words = words_of(row);
  return fmt::format("one of {}", fmt::join(words, ", "));
}

}  // namespace

std::vector<std::string_view> words_of(const SettingRow& row) {
  std::vector<std::string_view> words;
  for (std::string_view rest = row.words; !rest.empty();) {
    const std::size_t end = std::min(rest.find('|'), rest.size());
    words.push_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return words;
}

ParsedValue parse_value(const SettingRow& row, std::string_view text) {
  switch (row.kind) {
    case SettingKind::boolean:
      return require(parse_boolean(text), row, text);
    case SettingKind::integer: {
      const std::int64_t value = require(parse_integer(text), row, text);
      if (value < row.min || value > row.max) fail_form(row, text);
      return value;
    }
    case SettingKind::size:
      return require_within(parse_scaled(text, kSizeUnits), row, text, kSizeUnits);
    case SettingKind::duration:
      return std::chrono::nanoseconds(require_within(parse_scaled(text, kTimeUnits), row, text, kTimeUnits));
    case SettingKind::choice:
      return require(parse_choice(row, text), row, text);
    case SettingKind::list:
      return require(parse_list(text), row, text);
    case SettingKind::text:
      break;
  }
  return std::string(text);
}

std::string accepted_form(const SettingRow& row) {
  switch (row.kind) {
    case SettingKind::boolean:
      return "1 or 0, true or false, yes or no, on or off";
    case SettingKind::integer: {
      const bool bounded_below = row.min != std::numeric_limits<std::int64_t>::min();
      const bool bounded_above = row.max < std::numeric_limits<int>::max();
      if (bounded_below && bounded_above) return fmt::format("a whole number from {} to {}", row.min, row.max);
      return bounded_below ? fmt::format("a whole number from {} up", row.min) : "a whole number";
    }
    case SettingKind::size:
      return "a size such as 512M, 1G or 1.5G";
    case SettingKind::duration:
      return "a time such as 30, 1.5, 500ms or 2m (in seconds where no unit is given)";
    case SettingKind::choice:
      return words_form(row);
    case SettingKind::list:
      return "names with commas between";
    case SettingKind::text:
      break;
  }
  return "text";
}

std::string size_text(std::uint64_t bytes) { return scaled_text(bytes, kSizeUnits); }

std::string duration_text(std::chrono::nanoseconds duration) {
  return scaled_text(static_cast<std::uint64_t>(duration.count()), kTimeUnits);
}

std::string value_text(const ParsedValue& value) {
  struct Print {
    std::string operator()(bool on) const { return on ? "1" : "0"; }
    std::string operator()(std::int64_t number) const { return fmt::format("{}", number); }
    std::string operator()(std::uint64_t bytes) const { return size_text(bytes); }
    std::string operator()(std::chrono::nanoseconds duration) const { return duration_text(duration); }
    std::string operator()(const ChosenWord& choice) const { return choice.word; }
    std::string operator()(const std::vector<std::string>& names) const {
      return fmt::format("{}", fmt::join(names, ","));
    }
    std::string operator()(const std::string& text) const { return text; }
  };
  return std::visit(Print{}, value);
}

std::string escaped(std::string_view text) {
  constexpr std::size_t bytes_max = 100;
  std::string result;
  for (const char c : text.substr(0, bytes_max)) {
    const auto code = static_cast<unsigned char>(c);
    if (code < 0x20 || code == 0x7f)
      result += fmt::format("\\x{:02x}", code);
    else
      result += c;
  }
  if (text.size() > bytes_max) result += fmt::format("... ({} bytes more)", text.size() - bytes_max);
  return result;
}

std::string quoted(std::string_view text) { return fmt::format("\"{}\"", escaped(text)); }

}  // namespace causeway
