// The strict reader of environment variables: every kind with good and bad forms, bounds, names, texts, random input.
#include <causeway/base/error.hpp>
#include <causeway/config/settings.hpp>
#include <causeway/config/settings_names.hpp>
#include <causeway/config/settings_parse.hpp>
#include <causeway/config/settings_rows.hpp>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <random>
#include <set>
#include <sstream>

namespace causeway {
namespace {

using namespace std::chrono_literals;

std::string error_of(const Environment& environment) {
  try {
    (void)read_settings(environment);
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::invalid_value);
    return error.what();
  }
  return "";
}

std::vector<std::string> texts(const Settings& settings, bool warnings) {
  std::vector<std::string> result;
  for (const SettingMessage& message : settings.messages)
    if (message.is_warning == warnings) result.push_back(message.text);
  return result;
}

TEST(Settings, DefaultsAreThoseOfTheTable) {
  const Settings settings = read_settings({});
  EXPECT_EQ(settings.symmetric_bytes, std::uint64_t{1} << 30);
  EXPECT_EQ(settings.heap_stride_bytes, 0u);
  EXPECT_EQ(settings.teams_max, 1024);
  EXPECT_EQ(settings.debug, DebugLevel::none);
  EXPECT_EQ(settings.wait_report, 30s);
  EXPECT_EQ(settings.wait_timeout, 0s);
  EXPECT_EQ(settings.bootstrap_timeout, 120s);
  EXPECT_EQ(settings.cpu_stack_bytes, 64u << 10);
  EXPECT_EQ(settings.machine, "");
  EXPECT_TRUE(settings.messages.empty());
  EXPECT_TRUE(settings.unknown.empty());
  EXPECT_EQ(settings.values.size(), setting_rows().size());
  for (const SettingValue& value : settings.values) EXPECT_EQ(value.source, SettingSource::standard) << value.name;
  EXPECT_EQ(settings.symmetric_bytes, Settings{}.symmetric_bytes);
}

TEST(Settings, TableIsSound) {
  std::set<std::string_view> names;
  for (const SettingRow& row : setting_rows()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name << " occurs twice";
    EXPECT_TRUE(has_our_prefix(row.name)) << row.name;
    EXPECT_FALSE(is_foreign(row.name)) << row.name;
    EXPECT_FALSE(row.help.empty()) << row.name;
    EXPECT_EQ(row.help.find('|'), std::string_view::npos) << row.name << ": a bar would break the page's table";
    EXPECT_EQ(row.kind == SettingKind::choice, !row.words.empty()) << row.name;
    if (!row.standard.empty()) {
      EXPECT_NO_THROW((void)parse_value(row, row.standard)) << row.name;
    }
  }
  EXPECT_GE(idle_rows().size() + working_rows().size(), 100u);
}

// Each field must be reached by its row, with a value that is not the default.
TEST(Settings, EveryFieldIsFilled) {
  const Settings s = read_settings({{"NVSHMEM_SYMMETRIC_SIZE", "3G"},
                                    {"CAUSEWAY_HEAP_STRIDE", "1T"},
                                    {"NVSHMEM_MAX_TEAMS", "64"},
                                    {"NVSHMEM_DEBUG", "trace"},
                                    {"NVSHMEM_DEBUG_FILE", "/tmp/%h.%p"},
                                    {"NVSHMEM_VERSION", "1"},
                                    {"NVSHMEM_INFO", "yes"},
                                    {"NVSHMEM_BOOTSTRAP_UID_SOCK_IFNAME", "^lo,eth1"},
                                    {"NVSHMEM_BOOTSTRAP_UID_SOCK_FAMILY", "af_inet6"},
                                    {"CAUSEWAY_BOOTSTRAP_TIMEOUT", "5"},
                                    {"CAUSEWAY_WAIT_REPORT", "0"},
                                    {"CAUSEWAY_WAIT_TIMEOUT", "1.5m"},
                                    {"CAUSEWAY_CPU_WORKERS", "7"},
                                    {"CAUSEWAY_CPU_STACK", "128K"},
                                    {"CAUSEWAY_CPU_DEVICES", "3"},
                                    {"CAUSEWAY_CPU_MULTIPROCESSORS", "2"},
                                    {"CAUSEWAY_MACHINE", "CUDA"},
                                    {"CAUSEWAY_CUDA_PREFIX", "/opt/causeway"}});
  EXPECT_EQ(s.symmetric_bytes, std::uint64_t{3} << 30);
  EXPECT_EQ(s.heap_stride_bytes, std::uint64_t{1} << 40);
  EXPECT_EQ(s.teams_max, 64);
  EXPECT_EQ(s.debug, DebugLevel::trace);
  EXPECT_EQ(s.debug_file, "/tmp/%h.%p");
  EXPECT_TRUE(s.print_version && s.print_info);
  EXPECT_EQ(s.uid_interfaces, "^lo,eth1");
  EXPECT_EQ(s.uid_family, "AF_INET6");
  EXPECT_EQ(s.bootstrap_timeout, 5s);
  EXPECT_EQ(s.wait_report, 0s);
  EXPECT_EQ(s.wait_timeout, 90s);
  EXPECT_EQ(s.cpu_workers, 7);
  EXPECT_EQ(s.cpu_stack_bytes, 128u << 10);
  EXPECT_EQ(s.cpu_devices, 3);
  EXPECT_EQ(s.cpu_multiprocessors, 2);
  EXPECT_EQ(s.machine, "cuda");
  EXPECT_EQ(s.cuda_prefix, "/opt/causeway");
  EXPECT_EQ(s.value("NVSHMEM_SYMMETRIC_SIZE").source, SettingSource::environment);
  EXPECT_EQ(s.value("CAUSEWAY_WAIT_TIMEOUT").text, "90s");
  EXPECT_EQ(s.value("NVSHMEM_PROXY_REQUEST_BATCH_MAX").source, SettingSource::standard);
  EXPECT_THROW((void)s.value("NVSHMEM_PROXY"), Error);
}

TEST(Settings, Booleans) {
  for (const char* word : {"1", "true", "True", "YES", "on", "On", "y", "T"})
    EXPECT_TRUE(read_settings({{"NVSHMEM_INFO", word}}).print_info) << word;
  for (const char* word : {"0", "false", "No", "off", "OFF", "n", "F", ""})
    EXPECT_FALSE(read_settings({{"NVSHMEM_INFO", word}}).print_info) << word;
  for (const char* word : {"2", "tru", "enable", " 1", "1 ", "-1", "00"})
    EXPECT_EQ(error_of({{"NVSHMEM_INFO", word}}),
              "NVSHMEM_INFO=\"" + std::string(word) + "\": 1 or 0, true or false, yes or no, on or off");
}

TEST(Settings, Integers) {
  EXPECT_EQ(read_settings({{"NVSHMEM_MAX_TEAMS", "8"}}).teams_max, 8);
  EXPECT_EQ(read_settings({{"NVSHMEM_MAX_TEAMS", "65536"}}).teams_max, 65536);
  EXPECT_EQ(read_settings({{"NVSHMEM_MAX_TEAMS", "0x20"}}).teams_max, 32);
  for (const char* bad :
       {"7", "65537", "-8", "8.0", "8teams", "0x", "0x-9", "eight", "+8", "99999999999999999999", "1K"})
    EXPECT_EQ(error_of({{"NVSHMEM_MAX_TEAMS", bad}}),
              "NVSHMEM_MAX_TEAMS=\"" + std::string(bad) + "\": a whole number from 8 to 65536");
}

TEST(Settings, Sizes) {
  const auto bytes = [](const char* text) { return read_settings({{"NVSHMEM_SYMMETRIC_SIZE", text}}).symmetric_bytes; };
  EXPECT_EQ(bytes("1"), 1u);
  EXPECT_EQ(bytes("512"), 512u);
  EXPECT_EQ(bytes("512B"), 512u);
  EXPECT_EQ(bytes("20m"), 20971520u);
  EXPECT_EQ(bytes("3.1M"), 3250586u);  // rounded up, as the reference documents
  EXPECT_EQ(bytes(".5m"), 524288u);
  EXPECT_EQ(bytes("2.K"), 2048u);
  EXPECT_EQ(bytes("1.5G"), 3u << 29);
  EXPECT_EQ(bytes("1GiB"), 1u << 30);
  EXPECT_EQ(bytes("1gb"), 1u << 30);
  EXPECT_EQ(bytes("64T"), std::uint64_t{64} << 40);
  EXPECT_EQ(bytes("0.000000000000000001T"), 1u);
  for (const char* bad : {"12Q", "G", ".", "", "1 G", "1G ", "-1G", "1e9", "1.2.3", "0x10", "1GG", "nan", "inf", "1,5G",
                          "99999999999999999999", "9999999999T", "0.0000000000000000001T"})
    EXPECT_EQ(error_of({{"NVSHMEM_SYMMETRIC_SIZE", bad}}),
              *bad ? "NVSHMEM_SYMMETRIC_SIZE=\"" + std::string(bad) + "\": a size such as 512M, 1G or 1.5G" : "");
  EXPECT_EQ(error_of({{"NVSHMEM_SYMMETRIC_SIZE", "0"}}),
            "NVSHMEM_SYMMETRIC_SIZE=\"0\": a size such as 512M, 1G or 1.5G, from 1 to 64T");
  EXPECT_EQ(error_of({{"CAUSEWAY_CPU_STACK", "16383"}}),
            "CAUSEWAY_CPU_STACK=\"16383\": a size such as 512M, 1G or 1.5G, from 16K to 1G");
}

TEST(Settings, Durations) {
  const auto wait = [](const char* text) { return read_settings({{"CAUSEWAY_WAIT_TIMEOUT", text}}).wait_timeout; };
  EXPECT_EQ(wait("30"), 30s);
  EXPECT_EQ(wait("1.5"), 1500ms);
  EXPECT_EQ(wait("500ms"), 500ms);
  EXPECT_EQ(wait("2m"), 2min);
  EXPECT_EQ(wait("2min"), 2min);
  EXPECT_EQ(wait("1H"), 1h);
  EXPECT_EQ(wait("20us"), 20us);
  EXPECT_EQ(wait("0"), 0s);
  EXPECT_EQ(wait("0.0000000001"), 1ns) << "a small limit must not become none";
  for (const char* bad : {"soon", "-1", "1d", "1 s", "ms", "1e3", "99999999999999999999"})
    EXPECT_EQ(error_of({{"CAUSEWAY_WAIT_TIMEOUT", bad}}),
              "CAUSEWAY_WAIT_TIMEOUT=\"" + std::string(bad) +
                  "\": a time such as 30, 1.5, 500ms or 2m (in seconds where no unit is given)");
  EXPECT_NE(error_of({{"CAUSEWAY_BOOTSTRAP_TIMEOUT", "0"}}).find(", from 1ms to 8760h"), std::string::npos);
}

TEST(Settings, ChoicesAndLists) {
  EXPECT_EQ(error_of({{"NVSHMEM_DEBUG", "LOUD"}}),
            "NVSHMEM_DEBUG=\"LOUD\": one of NONE, VERSION, WARN, INFO, ABORT, TRACE");
  EXPECT_EQ(error_of({{"CAUSEWAY_MACHINE", "gpu"}}), "CAUSEWAY_MACHINE=\"gpu\": one of cpu, cuda");
  EXPECT_EQ(error_of({{"NVSHMEM_BOOTSTRAP_UID_SOCK_FAMILY", "|"}}),
            "NVSHMEM_BOOTSTRAP_UID_SOCK_FAMILY=\"|\": one of AF_INET, AF_INET6");
  const SettingRow list{"NVSHMEM_LIST", SettingKind::list, SettingEffect::honoured, "", "for this test"};
  EXPECT_EQ(std::get<std::vector<std::string>>(parse_value(list, "a")), std::vector<std::string>{"a"});
  EXPECT_EQ(std::get<std::vector<std::string>>(parse_value(list, "a,=b,^c")),
            (std::vector<std::string>{"a", "=b", "^c"}));
  for (const char* bad : {",", "a,", ",a", "a,,b"}) EXPECT_THROW((void)parse_value(list, bad), Error) << bad;
}

TEST(Settings, AllMalformedValuesAreNamedAtOnce) {
  const Environment environment{{"NVSHMEM_INFO", "perhaps"}, {"CAUSEWAY_WAIT_REPORT", "never"}};
  const std::string error = error_of(environment);
  EXPECT_NE(error.find("NVSHMEM_INFO=\"perhaps\""), std::string::npos);
  EXPECT_NE(error.find("\nCAUSEWAY_WAIT_REPORT=\"never\""), std::string::npos);
  const Settings inspected = inspect_settings(environment);
  EXPECT_EQ(inspected.malformed.size(), 2u);
  EXPECT_EQ(inspected.wait_report, 30s) << "a malformed value leaves the default";
  EXPECT_EQ(inspected.value("CAUSEWAY_WAIT_REPORT").source, SettingSource::standard);
}

TEST(Settings, ValuesInErrorsArePrintable) {
  EXPECT_EQ(error_of({{"CAUSEWAY_MACHINE", "a\x1b[31m\n"}}), "CAUSEWAY_MACHINE=\"a\\x1b[31m\\x0a\": one of cpu, cuda");
  EXPECT_LT(error_of({{"CAUSEWAY_MACHINE", std::string(100'000, 'x')}}).size(), 250u);
}

TEST(Settings, VersionLabelAsksForNothing) {
  EXPECT_FALSE(read_settings({{"NVSHMEM_VERSION", "3.4.5"}}).print_version);
  EXPECT_FALSE(read_settings({{"NVSHMEM_VERSION", "3.4.5-2"}}).print_version);
  EXPECT_TRUE(read_settings({{"NVSHMEM_VERSION", "1"}}).print_version);
  EXPECT_NE(error_of({{"NVSHMEM_VERSION", "3.x"}}), "");
  EXPECT_NE(error_of({{"NVSHMEM_INFO", "3.4.5"}}), "");
}

TEST(Settings, UnknownNamesGetTheNearestRealOne) {
  const Settings settings = read_settings({{"NVSHMEM_SYMETRIC_SIZE", "1G"},
                                           {"CAUSEWAY_SYMMETRIC_SIZE", "1G"},
                                           {"CAUSEWAY_WAIT_TIMOEUT", "1"},
                                           {"NVSHMEM_FROBNICATE", "1"},
                                           {"SHMEM_DEBUG", "1"},
                                           {"NVSHMEMX_FOO", "1"}});
  EXPECT_EQ(texts(settings, true),
            (std::vector<std::string>{"CAUSEWAY_SYMMETRIC_SIZE is not known; did you mean NVSHMEM_SYMMETRIC_SIZE?",
                                      "CAUSEWAY_WAIT_TIMOEUT is not known; did you mean CAUSEWAY_WAIT_TIMEOUT?",
                                      "NVSHMEM_FROBNICATE is not known; `causeway info --settings` lists the names",
                                      "NVSHMEM_SYMETRIC_SIZE is not known; did you mean NVSHMEM_SYMMETRIC_SIZE?"}));
  ASSERT_EQ(settings.unknown.size(), 4u);
  EXPECT_EQ(settings.unknown[2].nearest, "");
}

TEST(Settings, OtherProgramsNamesAreSilent) {
  const Settings settings = read_settings({{"NVSHMEM_MACHINE_READABLE_OUTPUT", "1"},
                                           {"NVSHMEMTEST_USE_MPI_LAUNCHER", "1"},
                                           {"NVSHMEM_HOME", "/x"},
                                           {"NVSHMEM_PREFIX", "/x"},
                                           {"NVSHMEM_DIR", "/x"},
                                           {"NVSHMEM_MPI_SUPPORT", "1"},
                                           {"NVSHMEM_BUILD_TESTS", "1"},
                                           {"CAUSEWAY_PEER_NVSHMEM", "/x"},
                                           {"CAUSEWAY_PE", "0"},
                                           {"CAUSEWAY_JOB", "00"}});
  EXPECT_TRUE(settings.messages.empty());
  // The star of a pattern stands for something.
  EXPECT_EQ(read_settings({{"NVSHMEM_BUILD_", "1"}}).messages.size(), 1u);
  EXPECT_EQ(read_settings({{"NVSHMEM_SUPPORT", "1"}}).messages.size(), 1u);
}

TEST(Settings, NamesWithoutEffectAreExplainedAtInfo) {
  Environment environment{{"NVSHMEM_IB_SL", "3"}, {"NVSHMEM_QP_DEPTH", "many"}};
  EXPECT_TRUE(texts(read_settings(environment), false).empty());
  environment["NVSHMEM_DEBUG"] = "INFO";
  const Settings settings = read_settings(environment);
  EXPECT_EQ(texts(settings, false), std::vector<std::string>{"NVSHMEM_IB_SL has no effect: There is no transport that "
                                                             "drives InfiniBand adapters itself."});
  EXPECT_EQ(texts(settings, true),
            std::vector<std::string>{"NVSHMEM_QP_DEPTH=\"many\": a whole number (it has no effect here)"});
}

TEST(Settings, EditDistance) {
  EXPECT_EQ(edit_distance("", "", 3), 0);
  EXPECT_EQ(edit_distance("abc", "ABC", 3), 0);
  EXPECT_EQ(edit_distance("abc", "", 3), 3);
  EXPECT_EQ(edit_distance("abc", "acb", 3), 1);
  EXPECT_EQ(edit_distance("abc", "abd", 3), 1);
  EXPECT_EQ(edit_distance("abc", "xabc", 3), 1);
  EXPECT_EQ(edit_distance("kitten", "sitting", 3), 3);
  EXPECT_EQ(edit_distance("kitten", "sitting", 2), 3);
  EXPECT_EQ(edit_distance("a", "abcdefgh", 3), 4);
}

TEST(Settings, TheOtherPrefixCountsAsASlip) {
  EXPECT_EQ(nearest_setting("CAUSEWAY_DEBUG"), "NVSHMEM_DEBUG");
  EXPECT_EQ(nearest_setting("CAUSEWAY_DEBUX"), "");
}

TEST(Settings, NearestWord) {
  static constexpr std::string_view commands[] = {"run", "cc", "info", "version", "help"};
  EXPECT_EQ(nearest_word("rnu", commands), "run");
  EXPECT_EQ(nearest_word("ccc", commands), "cc");
  EXPECT_EQ(nearest_word("verison", commands), "version");
  EXPECT_EQ(nearest_word("INFO", commands), "info");
  for (const char* word : {"", "xy", "bench", "a-long-word-that-is-like-nothing"})
    EXPECT_EQ(nearest_word(word, commands), "") << word;
}

TEST(Settings, OneSlipInAnyNameIsUnderstood) {
  std::mt19937 random(7);
  int understood = 0, tried = 0;
  for (const SettingRow& row : setting_rows()) {
    if (row.effect == SettingEffect::launcher) continue;
    const std::size_t prefix = row.name.find('_') + 1;
    std::string name(row.name);
    name.erase(prefix + random() % (name.size() - prefix), 1);
    if (is_foreign(name)) continue;
    const auto rows = setting_rows();
    if (std::any_of(rows.begin(), rows.end(), [&](const SettingRow& other) { return other.name == name; })) continue;
    ++tried;
    const std::string_view nearest = nearest_setting(name);
    EXPECT_FALSE(nearest.empty()) << name;
    understood += nearest == row.name;
  }
  EXPECT_GT(tried, 90);
  EXPECT_GE(understood, tried - 5) << "some names are one letter apart, most are not";
}

TEST(Settings, PrintedValuesReadBackAsThemselves) {
  std::mt19937_64 random(11);
  const SettingRow size{"NVSHMEM_SIZE", SettingKind::size, SettingEffect::honoured, "", "for this test"};
  const SettingRow time{"NVSHMEM_TIME", SettingKind::duration, SettingEffect::honoured, "", "for this test"};
  for (int i = 0; i < 20'000; ++i) {
    const std::uint64_t value = (random() >> (random() % 64)) << (random() % 45) & ~(std::uint64_t{1} << 63);
    EXPECT_EQ(std::get<std::uint64_t>(parse_value(size, size_text(value))), value);
    const std::chrono::nanoseconds duration(value);
    EXPECT_EQ(std::get<std::chrono::nanoseconds>(parse_value(time, duration_text(duration))), duration);
  }
}

TEST(Settings, RandomInputIsAnswered) {
  std::mt19937 random(3);
  const auto rows = setting_rows();
  static constexpr std::string_view pieces[] = {"0", "1",  "9",  ".",    "-",    "+",    "x",
                                                "G", "iB", "ms", "\xff", "\n",   ",",    "|",
                                                "%", "=",  "`",  " ",    "true", "INFO", "99999999999"};
  int read = 0, refused = 0;
  for (int i = 0; i < 20'000; ++i) {
    Environment environment;
    for (unsigned j = random() % 4 + 1; j > 0; --j) {
      std::string name(rows[random() % rows.size()].name), text;
      if (random() % 4 == 0) name[random() % name.size()] = static_cast<char>(random() % 255 + 1);
      for (unsigned k = random() % 5; k > 0; --k) text += pieces[random() % std::size(pieces)];
      environment[name] = text;
    }
    error_of(environment).empty() ? ++read : ++refused;
    if (i % 100 == 0) {
      const Settings settings = inspect_settings(environment);
      EXPECT_FALSE(settings_table(settings, TableFormat::plain).empty());
      EXPECT_FALSE(settings_table(settings, TableFormat::markdown).empty());
    }
  }
  EXPECT_GT(read, 1000);
  EXPECT_GT(refused, 1000);
}

TEST(Settings, ProcessEnvironment) {
  ::setenv("NVSHMEM_DEBUG_FILE", "a=b", 1);
  EXPECT_EQ(process_environment().at("NVSHMEM_DEBUG_FILE"), "a=b");
  ::unsetenv("NVSHMEM_DEBUG_FILE");
  EXPECT_FALSE(process_environment().contains("NVSHMEM_DEBUG_FILE"));
}

TEST(Settings, TheSecretIsNotShown) {
  const Settings settings = read_settings({{"CAUSEWAY_JOB", "00112233445566778899aabbccddeeff"}});
  EXPECT_EQ(settings.value("CAUSEWAY_JOB").source, SettingSource::environment);
  for (const TableFormat format : {TableFormat::plain, TableFormat::markdown})
    EXPECT_EQ(settings_table(settings, format).find("00112233"), std::string::npos);
}

TEST(Settings, PlainTableShowsWhatIsSet) {
  const std::string table = settings_table(read_settings({{"NVSHMEM_SYMMETRIC_SIZE", "1536M"}}), TableFormat::plain);
  EXPECT_NE(table.find("  * NVSHMEM_SYMMETRIC_SIZE = 1536M  (environment)\n"), std::string::npos);
  EXPECT_NE(table.find("    NVSHMEM_MAX_TEAMS = 1024  (default)\n"), std::string::npos);
  EXPECT_NE(table.find("    NVSHMEM_IB_SL = not set\n"), std::string::npos);
}

TEST(Settings, ThePageIsTheTable) {
  std::ifstream file(CAUSEWAY_SOURCE_DIR "/docs/settings.md");
  std::ostringstream page;
  page << file.rdbuf();
  EXPECT_EQ(page.str(), settings_table(Settings{}, TableFormat::markdown))
      << "run `env -i causeway info --settings --markdown > docs/settings.md`";
  const std::string with_values =
      settings_table(read_settings({{"NVSHMEM_DEBUG_FILE", "a|b`c"}}), TableFormat::markdown);
  EXPECT_NE(with_values.find("| `a\\|b'c` |"), std::string::npos);
}

}  // namespace
}  // namespace causeway
