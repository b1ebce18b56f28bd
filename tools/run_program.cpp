#include <tools/run_options.hpp>
#include <tools/run_program.hpp>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
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

bool is_python(const std::string& path) { return path.ends_with(".py"); }

std::string with_python(const std::string& path) {
  return fmt::format("a Python script is run as in `causeway run -n 2 python3 {}`", path);
}

[[noreturn]] void refuse(const std::string& path, Found found) {
  if (found == Found::a_directory)
    throw RunError(2, fmt::format("program {}: is a directory; the path of an executable file is expected", path));
  throw RunError(2, fmt::format("program {}: is not executable; {}", path,
                                is_python(path) ? with_python(path) : "an executable file is expected (chmod +x?)"));
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
  const Found here = look_at("./" + program);
  std::string advice;
  if (here == Found::executable)
    advice = fmt::format("; for the one in this folder write ./{}", program);
  else if (here == Found::not_executable && is_python(program))
    advice = "; " + with_python(program);
  throw RunError(127, fmt::format("program {}: not found in PATH{}", program, advice));
}

std::string not_executed(const std::string& path, int cause) {
  std::string text = fmt::format("program {}: cannot be executed: {}", path, std::strerror(cause));
  if (cause == ENOEXEC)
    text += "; it is neither a program for this machine nor a script with #! and an interpreter in its first line";
  if (cause == ENOEXEC && is_python(path)) text += ": " + with_python(path);
  if ((cause == ENOENT || cause == ENOTDIR) && look_at(path) != Found::nothing)
    text += "; the file is there, but the interpreter that it names (#! in its first line, or its ELF loader) is not";
  return text;
}

}  // namespace causeway
