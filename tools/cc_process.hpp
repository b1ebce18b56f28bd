// Child processes and the private directory for what they write.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace causeway::cc {

using Command = std::vector<std::string>;

/// Where a child's output goes; an empty path: where the parent's goes.
struct Redirect {
  std::filesystem::path standard_output;
  std::filesystem::path standard_error;
};

/// Runs a command found in PATH and waits for it. Returns its exit status, 128 + n if signal n ended it. `show` prints
/// the command to standard error first. Throws causeway::Error if it cannot be started.
int run(const Command& command, bool show, const Redirect& redirect = {});

/// A new directory under $TMPDIR, else /tmp, removed with all it holds.
class TemporaryDirectory {
 public:
  TemporaryDirectory();
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  [[nodiscard]] std::filesystem::path file(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

std::string read_file(const std::filesystem::path& path);
void write_file(const std::filesystem::path& path, const std::string& text);

}  // namespace causeway::cc
