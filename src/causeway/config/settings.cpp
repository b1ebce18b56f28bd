// See settings.hpp: goes through the table once and fills the fields; the parser is settings_parse.hpp.
#include <causeway/base/error.hpp>
#include <causeway/config/settings.hpp>
#include <causeway/config/settings_names.hpp>
#include <causeway/config/settings_parse.hpp>
#include <causeway/config/settings_rows.hpp>
#include <unistd.h>

#include <algorithm>
#include <cstdint>

namespace causeway {
namespace {

/// Puts a parsed value into the row's field. The types of field and kind fit: settings_test.cpp goes through all rows.
struct Assign {
  Settings& settings;
  const ParsedValue& value;

  void operator()(std::monostate) const {}
  void operator()(int Settings::*field) const { settings.*field = static_cast<int>(std::get<std::int64_t>(value)); }
  void operator()(DebugLevel Settings::*field) const {
    settings.*field = static_cast<DebugLevel>(std::get<ChosenWord>(value).number);
  }
  void operator()(std::string Settings::*field) const { settings.*field = value_text(value); }
  template <class T>
  void operator()(T Settings::*field) const {
    settings.*field = std::get<T>(value);
  }
};

/// Parses the text, fills the field and returns the text in its shortest form.
std::string take(Settings& settings, const SettingRow& row, std::string_view text) {
  const ParsedValue value = parse_value(row, text);
  std::visit(Assign{settings, value}, row.field);
  return value_text(value);
}

/// Container images describe what they hold in NVSHMEM_VERSION=3.4.5; that asks for nothing.
bool is_version_label(const SettingRow& row, std::string_view text) {
  return row.name == "NVSHMEM_VERSION" && text.find('.') != std::string_view::npos &&
         text.find_first_not_of("0123456789.-") == std::string_view::npos;
}

/// Whoever knows it may join the job, so it must not get into logs.
bool is_secret(const SettingRow& row) { return row.name == "CAUSEWAY_JOB"; }

void read_row(Settings& settings, const SettingRow& row, SettingValue& value, const std::string& text) {
  if (text.empty() || is_version_label(row, text)) return;
  try {
    value.text = take(settings, row, text);
    if (is_secret(row)) value.text = "(not shown)";
    value.source = SettingSource::environment;
  } catch (const Error& error) {
    if (row.effect == SettingEffect::no_effect)
      settings.messages.push_back({true, fmt::format("{} (it has no effect here)", error.what())});
    else
      settings.malformed.emplace_back(error.what());
  }
}

void collect_unknown(Settings& settings, const Environment& environment) {
  const auto rows = setting_rows();
  for (const auto& [name, text] : environment) {
    const bool known = std::any_of(rows.begin(), rows.end(), [&](const SettingRow& row) { return row.name == name; });
    if (known || !has_our_prefix(name) || is_foreign(name)) continue;
    const UnknownName& unknown = settings.unknown.emplace_back(UnknownName{name, std::string(nearest_setting(name))});
    settings.messages.push_back(
        {true, unknown.nearest.empty()
                   ? fmt::format("{} is not known; `causeway info --settings` lists the names", unknown.name)
                   : fmt::format("{} is not known; did you mean {}?", unknown.name, unknown.nearest)});
  }
}

void explain_idle(Settings& settings) {
  if (settings.debug < DebugLevel::info) return;
  for (const SettingRow& row : idle_rows())
    if (settings.value(row.name).source == SettingSource::environment)
      settings.messages.push_back({false, fmt::format("{} has no effect: {}", row.name, row.help)});
}

}  // namespace

std::span<const SettingRow> setting_rows() {
  static const std::vector<SettingRow> rows = [] {
    std::vector<SettingRow> all(working_rows().begin(), working_rows().end());
    all.insert(all.end(), idle_rows().begin(), idle_rows().end());
    return all;
  }();
  return rows;
}

Environment process_environment() {
  Environment environment;
  for (char** entry = ::environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view pair = *entry;
    const std::size_t equals = pair.find('=');
    // As in getenv, the first of two equal names counts.
    if (equals != std::string_view::npos)
      environment.emplace(std::string(pair.substr(0, equals)), std::string(pair.substr(equals + 1)));
  }
  return environment;
}

Settings::Settings() {
  values.reserve(setting_rows().size());
  for (const SettingRow& row : setting_rows()) {
    // A default of a row without field is the reference's; nothing here has that value.
    const bool has_value = row.effect != SettingEffect::no_effect && !row.standard.empty();
    values.push_back({row.name, has_value ? take(*this, row, row.standard) : std::string()});
  }
}

const SettingValue& Settings::value(std::string_view name) const {
  const auto found = std::find_if(values.begin(), values.end(), [&](const SettingValue& v) { return v.name == name; });
  if (found == values.end()) fail(Status::invalid_value, "setting {}: there is none of this name", quoted(name));
  return *found;
}

Settings inspect_settings(const Environment& environment) {
  Settings settings;
  const auto rows = setting_rows();
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (const auto found = environment.find(std::string(rows[i].name)); found != environment.end())
      read_row(settings, rows[i], settings.values[i], found->second);
  collect_unknown(settings, environment);
  explain_idle(settings);
  return settings;
}

Settings read_settings(const Environment& environment) {
  Settings settings = inspect_settings(environment);
  if (!settings.malformed.empty()) fail(Status::invalid_value, "{}", fmt::join(settings.malformed, "\n"));
  return settings;
}

}  // namespace causeway
