#include <causeway/base/error.hpp>
#include <causeway/config/settings.hpp>
#include <tools/cc_paths.hpp>

#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

namespace causeway::cc {
namespace {

namespace fs = std::filesystem;

bool is_executable(const fs::path& path) { return is_file(path) && access(path.c_str(), X_OK) == 0; }

std::optional<std::string> find_in_path(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::istringstream directories(path ? path : "/usr/local/bin:/usr/bin:/bin");
  for (std::string directory; std::getline(directories, directory, ':');)
    if (is_executable(fs::path(directory) / name)) return (fs::path(directory) / name).string();
  return std::nullopt;
}

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

bool has_headers(const fs::path& prefix) {
  return fs::is_directory(include_directories(prefix)[0] / "causeway") &&
         is_file(include_directories(prefix)[0] / "nvshmem.h");
}

bool has_cuda_library(const fs::path& prefix) { return is_file(prefix / "lib" / "libcauseway.so"); }

}  // namespace

bool is_file(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored) && !fs::is_directory(path, ignored);
}

std::vector<fs::path> include_directories(const fs::path& prefix) {
  std::string sources;
  std::getline(std::ifstream(prefix / "source_root"), sources);
  if (sources.empty()) return {prefix / "include"};
  return {sources, prefix / "include"};
}

fs::path emulator_headers(const fs::path& prefix) {
  return include_directories(prefix)[0] / "causeway" / "emulator" / "include";
}

fs::path installation_of(const fs::path& tool, const std::string& python) {
  const fs::path prefix = tool.parent_path().parent_path();
  if (python.empty() || has_headers(prefix)) return prefix;
  // Where installers put packages: virtual environments and users, Debian's own Python, Fedora's, `pip install
  // --target`.
  for (const char* lib : {"lib", "lib64"})
    for (const char* packages : {"site-packages", "dist-packages"})
      if (const fs::path package = prefix / lib / python / packages / "causeway";
          has_headers(package))
        return package;
  if (const fs::path package = prefix / "causeway"; has_headers(package)) return package;
  return prefix;
}

fs::path installation() {
#ifdef CAUSEWAY_PYTHON
  const char* const python = CAUSEWAY_PYTHON;
#else
  const char* const python = "";
#endif
  return installation_of(fs::read_symlink("/proc/self/exe"), python);
}

void require_headers(const fs::path& prefix) {
  if (!has_headers(prefix))
    fail(Status::invalid_value,
         "this installation has no headers for programs: {} is not there; `cmake --install` and `pip install` bring "
         "them, and a "
         "build folder has them",
         (include_directories(prefix)[0] / "nvshmem.h").string());
}

fs::path cuda_installation() {
  if (const fs::path wanted = inspect_settings(process_environment()).cuda_prefix; !wanted.empty()) {
    if (!has_cuda_library(wanted))
      fail(Status::invalid_value, "CAUSEWAY_CUDA_PREFIX={}: there is no lib/libcauseway.so in it", wanted.string());
    return wanted;
  }
  const fs::path here = installation(), sibling = here.parent_path() / "cuda";
  for (const fs::path& prefix : {here, sibling})
    if (has_cuda_library(prefix)) return prefix;
  fail(Status::invalid_value,
       "--machine cuda needs lib/libcauseway.so, which is neither in {} nor in {}; set CAUSEWAY_CUDA_PREFIX to the "
       "installation that has it",
       here.string(), sibling.string());
}

std::optional<std::string> find_nvcc() {
  if (auto found = find_in_path("nvcc")) return found;
  for (const fs::path home : {environment("CUDA_HOME"), std::string("/usr/local/cuda")})
    if (!home.empty() && is_executable(home / "bin" / "nvcc")) return (home / "bin" / "nvcc").string();
  return std::nullopt;
}

std::string host_compiler(const std::string& wanted) {
  if (!wanted.empty()) {
    // nvcc also takes the directory that the compiler is in.
    std::error_code ignored;
    return fs::is_directory(wanted, ignored) ? (fs::path(wanted) / "g++").string() : wanted;
  }
  if (const std::string cxx = environment("CXX"); !cxx.empty()) return cxx;
  for (const char* name : {"g++", "clang++"})
    if (find_in_path(name)) return name;
  fail(Status::invalid_value,
       "no host compiler: neither $CXX nor -ccbin is given and PATH has neither g++ nor clang++");
}

bool has_gpu() {
  std::error_code ignored;
  return fs::exists("/dev/nvidia0", ignored) || fs::exists("/dev/nvidiactl", ignored);
}

bool hides_our_headers(const fs::path& directory) {
  return is_file(directory / "cuda_runtime_api.h") || is_file(directory / "nvshmem.h");
}

}  // namespace causeway::cc
