#include <causeway/base/error.hpp>
#include <tools/run_orphans.hpp>
#include <sys/prctl.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace causeway {
namespace {

/// The parent of a process by /proc/PID/stat: "pid (name) state parent ...", where the name may hold anything.
pid_t parent_of(const std::filesystem::path& process) {
  std::ifstream file(process / "stat");
  std::string line;
  if (!std::getline(file, line)) return -1;
  const std::size_t name_end = line.rfind(')');
  if (name_end == std::string::npos || name_end + 4 >= line.size()) return -1;
  return static_cast<pid_t>(std::strtol(line.c_str() + name_end + 4, nullptr, 10));
}

}  // namespace

void adopt_orphans() {
  if (::prctl(PR_SET_CHILD_SUBREAPER, 1) != 0)
    fail_errno("cannot become the parent of orphans (PR_SET_CHILD_SUBREAPER)");
}

std::vector<pid_t> children_of_this_process() {
  std::vector<pid_t> children;
  std::ifstream list("/proc/self/task/" + std::to_string(::getpid()) + "/children");
  if (list) {
    for (pid_t child; list >> child;) children.push_back(child);
    return children;
  }
  std::error_code ignored;  // processes end while one looks
  for (const auto& entry : std::filesystem::directory_iterator("/proc", ignored)) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    if (parent_of(entry.path()) == ::getpid()) children.push_back(static_cast<pid_t>(std::stol(name)));
  }
  return children;
}

}  // namespace causeway
