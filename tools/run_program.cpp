// See run_program.hpp.
#include <causeway/tools/run_options.hpp>
#include <causeway/tools/run_program.hpp>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <sstream>

namespace causeway {
namespace {

enum class Found { nothing, a_directory, not_executable, executable };

Found look_at(const std::string& path) {
  struct stat what {};
  if (::stat(path.c_str(), &what) != 0) return Found::nothing;
  if (S_ISDIR(what.st_mode)) return Found::a_directory;
  return ::access(path.c_str(), X_OK) == 0 ? Found::executable : Found::not_executable;
}

[[noreturn]] void refuse(const std::string& path, Found found) {
  if (found == Found::a_directory)
    throw RunError(2, fmt::format("program {}: is a directory; the path of an executable file is expected", path));
  throw RunError(2, fmt::format("program {}: is not executable; an executable file is expected (chmod +x?)", path));
}

}  // namespace

std::string find_program(const std::string& program) {
  if (program.find('/') != std::string::npos) {
    const Found found = look_at(program);
    if (found == Found::executable) return program;
    if (found != Found::nothing) refuse(program, found);
    throw RunError(127, fmt::format("program {}: no such file", program));
  }
  const char* const path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "/usr/local/bin:/usr/bin:/bin" : path);
  std::string blocked;
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string candidate = (folder.empty() ? "." : folder) + "/" + program;
    const Found found = look_at(candidate);
    if (found == Found::executable) return candidate;
    if (found == Found::not_executable && blocked.empty()) blocked = candidate;
  }
  if (!blocked.empty()) refuse(blocked, Found::not_executable);
  const bool here = look_at("./" + program) == Found::executable;
  throw RunError(127, fmt::format("program {}: not found in PATH{}", program,
                                  here ? fmt::format("; for the one in this folder write ./{}", program) : ""));
}

}  // namespace causeway
