#include <causeway/base/error.hpp>
#include <tools/cc_process.hpp>

#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <system_error>

namespace causeway::cc {
namespace {

class FileActions {
 public:
  explicit FileActions(const Redirect& redirect) {
    posix_spawn_file_actions_init(&actions_);
    add(STDOUT_FILENO, redirect.standard_output);
    add(STDERR_FILENO, redirect.standard_error);
  }
  ~FileActions() { posix_spawn_file_actions_destroy(&actions_); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;
  [[nodiscard]] const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  void add(int fd, const std::filesystem::path& path) {
    if (!path.empty())
      posix_spawn_file_actions_addopen(&actions_, fd, path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  }
  posix_spawn_file_actions_t actions_{};
};

// As a shell would take it back.
std::string quoted(const std::string& argument) {
  constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+,./:@%";
  if (!argument.empty() && argument.find_first_not_of(plain) == std::string::npos) return argument;
  std::string text = "'";
  for (const char c : argument) text += c == '\'' ? "'\\''" : std::string(1, c);
  return text + "'";
}

}  // namespace

int run(const Command& command, bool show, const Redirect& redirect) {
  if (show) {
    std::string line;
    for (const std::string& argument : command) line += (line.empty() ? "" : " ") + quoted(argument);
    fmt::print(stderr, "{}\n", line);
  }
  std::vector<char*> argv;
  for (const std::string& argument : command) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  const FileActions actions(redirect);
  pid_t pid = 0;
  if (const int code = posix_spawnp(&pid, argv[0], actions.get(), nullptr, argv.data(), environ); code != 0)
    fail(Status::invalid_value, "cannot run {}: {}", command.front(), std::generic_category().message(code));
  int status = 0;
  while (waitpid(pid, &status, 0) < 0)
    if (errno != EINTR) fail_errno("waitpid for " + command.front());
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

TemporaryDirectory::TemporaryDirectory() {
  const char* base = std::getenv("TMPDIR");
  std::string path = std::string(base && *base ? base : "/tmp") + "/causeway-cc-" + std::string(6, 'X');
  if (mkdtemp(path.data()) == nullptr) fail_errno("cannot make a temporary directory " + path);
  path_ = path;
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file) fail(Status::invalid_value, "cannot read {}", path.string());
  return text;
}

void write_file(const std::filesystem::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  if (!(file << text << std::flush)) fail(Status::invalid_value, "cannot write {}", path.string());
}

}  // namespace causeway::cc
