// Where the tool looks for what programs are compiled and linked with.
#include <causeway/base/error.hpp>
#include <tools/cc_paths.hpp>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>

namespace causeway::cc {
namespace {

namespace fs = std::filesystem;

class InstallationTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "causeway-paths-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    root_ = name;
  }
  void TearDown() override { fs::remove_all(root_); }
  fs::path make(const fs::path& prefix) {
    fs::create_directories(root_ / prefix / "include" / "causeway");
    std::ofstream(root_ / prefix / "include" / "nvshmem.h") << "// A header.\n";
    return root_ / prefix;
  }
  [[nodiscard]] fs::path found(const std::string& python) const {
    return installation_of(root_ / "bin" / "causeway", python);
  }
  fs::path root_;
};

TEST_F(InstallationTest, TheDirectoryAboveTheTool) {
  EXPECT_EQ(found(""), root_);
  make("lib/python3.11/site-packages/causeway");
  EXPECT_EQ(found(""), root_) << "not a tool of a Python package";
  make("");
  EXPECT_EQ(found("python3.11"), root_) << "a whole installation comes first";
}

TEST_F(InstallationTest, ThePackageBesideTheInterpreter) {
  EXPECT_EQ(found("python3.11"), root_) << "there is none";
  for (const char* folder :
       {"causeway", "lib64/python3.11/dist-packages/causeway", "lib64/python3.11/site-packages/causeway",
        "lib/python3.11/dist-packages/causeway", "lib/python3.11/site-packages/causeway"}) {
    const fs::path package = make(folder);
    EXPECT_EQ(found("python3.11"), package);
  }
  EXPECT_EQ(found("python3.12"), root_ / "causeway") << "another interpreter's";
}

TEST_F(InstallationTest, ABuildDirectoryNamesTheSources) {
  const fs::path sources = make("tree") / "include";  // (any folder with the headers)
  fs::create_directories(root_ / "build" / "include");
  EXPECT_THROW(require_headers(root_ / "build"), Error);
  EXPECT_EQ(include_directories(root_ / "build"), std::vector<fs::path>{root_ / "build" / "include"});
  std::ofstream(root_ / "build" / "source_root") << sources.string() << '\n';
  EXPECT_NO_THROW(require_headers(root_ / "build"));
  EXPECT_EQ(include_directories(root_ / "build"), (std::vector<fs::path>{sources, root_ / "build" / "include"}));
  EXPECT_EQ(emulator_headers(root_ / "build"), sources / "causeway/emulator/include");
}

TEST_F(InstallationTest, WithoutHeadersTheErrorNamesThem) {
  EXPECT_NO_THROW(require_headers(make("")));
  try {
    require_headers(root_ / "elsewhere");
    FAIL() << "there are no headers";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("elsewhere/include/nvshmem.h is not there"), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace causeway::cc
