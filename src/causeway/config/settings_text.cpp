// Prints the table of settings, for `causeway info` and docs/settings.md.
#include <causeway/config/settings_parse.hpp>
#include <causeway/config/settings_rows.hpp>
#include <fmt/format.h>

#include <algorithm>

namespace causeway {
namespace {

struct Section {
  SettingEffect effect;
  std::string_view title, intro;
};

constexpr Section kSections[] = {
    {SettingEffect::honoured, "NVSHMEM variables", "These mean what they mean to NVSHMEM."},
    {SettingEffect::ours, "Causeway variables", "These have no counterpart in NVSHMEM."},
    {SettingEffect::launcher, "Set by the launcher", "`causeway run` sets these for the PEs that it starts."},
    {SettingEffect::no_effect, "Accepted without effect",
     "NVSHMEM's other variables may stay set. With NVSHMEM_DEBUG=INFO each that is set gives a line with the reason; a "
     "malformed value is a warning. The defaults are NVSHMEM's, as far as it states them."},
};

constexpr std::string_view kIntro = R"(# Settings

Every environment variable that the library reads. `causeway info --settings --markdown` prints this page, with the
values of the environment that it runs in.

- A variable that is set but empty counts as not set.
- A malformed value is an error that names the variable, the value and the accepted form.
- A name under `NVSHMEM_` or `CAUSEWAY_` that is not on this page is a warning with the nearest name that is.
- On and off: 1 or 0, true or false, yes or no, on or off, y or n, t or f, in either case. NVSHMEM reads everything that
  does not start with 0, n or f as true, `off` too; here `off` is false.
- Sizes: a number, also with decimals, and K, M, G or T (powers of 1024; KiB and KB mean the same). Rounded up to bytes.
- Times: seconds, or a number with ns, us, ms, s, m or h.
)";

std::string short_form(const SettingRow& row) {
  switch (row.kind) {
    case SettingKind::boolean:
      return "on or off";
    case SettingKind::size:
      return "size";
    case SettingKind::duration:
      return "time";
    case SettingKind::choice:
      return fmt::format("{}", fmt::join(words_of(row), ", "));
    default:
      return accepted_form(row);
  }
}

/// For a cell of a markdown table: a bar would end it, a backtick the code.
std::string code(std::string_view text) {
  if (text.empty()) return "";
  std::string result = "`";
  for (const char c : escaped(text)) {
    if (c == '|') result += '\\';
    result += c == '`' ? '\'' : c;
  }
  return result + "`";
}

bool is_set(const SettingValue& value) { return value.source == SettingSource::environment; }

std::string foreign_text() {
  std::string result =
      "\n## Left alone\n\nNames under the same prefixes that belong to others; they are neither read nor warned "
      "about.\n\n"
      "| Name | Whose |\n|---|---|\n";
  for (const ForeignName& foreign : foreign_names())
    result += fmt::format("| `{}` | {} |\n", foreign.pattern, foreign.help);
  return result;
}

std::string markdown(const Settings& settings) {
  const bool with_values = std::any_of(settings.values.begin(), settings.values.end(), is_set);
  std::string result(kIntro);
  for (const Section& section : kSections) {
    result += fmt::format("\n## {}\n\n{}\n\n| Name | Accepted | Default | {}What it does |\n|---|---|---|{}---|\n",
                          section.title, section.intro, with_values ? "Set to | " : "", with_values ? "---|" : "");
    for (const SettingRow& row : setting_rows()) {
      if (row.effect != section.effect) continue;
      const SettingValue& value = settings.value(row.name);
      result += fmt::format("| `{}` | {} | {} | ", row.name, short_form(row), code(row.standard));
      if (with_values) result += fmt::format("{} | ", is_set(value) ? code(value.text) : "");
      result += fmt::format("{} |\n", row.help);
    }
  }
  return result + foreign_text();
}

/// Lines of at most 96 columns, indented.
std::string wrapped(std::string_view text) {
  constexpr std::size_t columns_max = 96;
  std::string result, line;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find(' ', start), text.size());
    const std::string_view word = text.substr(start, end - start);
    if (!line.empty() && line.size() + 1 + word.size() > columns_max) {
      result += fmt::format("      {}\n", line);
      line.clear();
    }
    line += fmt::format("{}{}", line.empty() ? "" : " ", word);
    start = end + 1;
  }
  return result + fmt::format("      {}\n", line);
}

std::string plain(const Settings& settings) {
  std::string result;
  for (const Section& section : kSections) {
    result += fmt::format("{}{}\n", result.empty() ? "" : "\n", section.title);
    for (const SettingRow& row : setting_rows()) {
      if (row.effect != section.effect) continue;
      const SettingValue& value = settings.value(row.name);
      std::string shown = "not set";
      if (is_set(value))
        shown = fmt::format("{}  (environment)", escaped(value.text));
      else if (!value.text.empty())
        shown = fmt::format("{}  (default)", value.text);
      result += fmt::format("  {} {} = {}\n", is_set(value) ? '*' : ' ', row.name, shown);
      result += wrapped(fmt::format("{}. {}", short_form(row), row.help));
    }
  }
  return result;
}

}  // namespace

std::string settings_table(const Settings& settings, TableFormat format) {
  return format == TableFormat::markdown ? markdown(settings) : plain(settings);
}

}  // namespace causeway
