// Where messages about the environment go: warnings to standard error, information to NVSHMEM_DEBUG_FILE.
#include <causeway/config/settings.hpp>
#include <causeway/config/topology.hpp>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace causeway {
namespace {

constexpr const char* kInformation =
    "causeway: NVSHMEM_IB_SL has no effect: There is no transport that drives InfiniBand adapters itself.\n";
constexpr const char* kWarning = "causeway: NVSHMEM_QP_DEPTH=\"many\": a whole number (it has no effect here)\n";

/// What goes to standard error where there are a warning and, at this level, an information.
std::string printed(const std::string& level, const std::string& file) {
  const Settings settings = read_settings({{"NVSHMEM_IB_SL", "3"},
                                           {"NVSHMEM_QP_DEPTH", "many"},
                                           {"NVSHMEM_DEBUG", level},
                                           {"NVSHMEM_DEBUG_FILE", file}});
  ::testing::internal::CaptureStderr();
  print_messages(settings);
  return ::testing::internal::GetCapturedStderr();
}

TEST(SettingMessages, DebugFilePath) {
  EXPECT_EQ(debug_file_path("/tmp/log", "node1", 42), "/tmp/log");
  EXPECT_EQ(debug_file_path("/tmp/%h.%p.log", "node1", 42), "/tmp/node1.42.log");
  EXPECT_EQ(debug_file_path("%%p%p%", "h", 7), "%p7%");
  EXPECT_EQ(debug_file_path("%x%", "h", 7), "%x%");
}

TEST(SettingMessages, InformationGoesToStandardErrorWithoutAFile) {
  EXPECT_EQ(printed("INFO", ""), std::string(kWarning) + kInformation);
  EXPECT_EQ(printed("WARN", ""), kWarning);
}

TEST(SettingMessages, InformationGoesToTheEndOfTheFile) {
  std::string folder = (std::filesystem::temp_directory_path() / "causeway-messages-XXXXXX").string();
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  EXPECT_EQ(printed("INFO", folder + "/%h.%p"), kWarning);
  EXPECT_EQ(printed("TRACE", folder + "/%h.%p"), kWarning);
  EXPECT_EQ(printed("WARN", folder + "/unused"), kWarning);
  std::ostringstream text;
  text << std::ifstream(folder + "/" + read_host_name() + "." + std::to_string(::getpid())).rdbuf();
  EXPECT_EQ(text.str(), std::string(kInformation) + kInformation);
  EXPECT_FALSE(std::filesystem::exists(folder + "/unused"));
  std::filesystem::remove_all(folder);
}

TEST(SettingMessages, AFileThatCannotBeOpenedIsNamed) {
  EXPECT_EQ(printed("INFO", "/no/such/%%folder"),
            "causeway: NVSHMEM_DEBUG_FILE=\"/no/such/%%folder\": cannot open \"/no/such/%folder\" (No such file or "
            "directory); messages go to standard error\n" +
                std::string(kWarning) + kInformation);
}

}  // namespace
}  // namespace causeway
