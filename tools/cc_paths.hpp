// Where the installation, the compilers and the GPU are.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace causeway::cc {

/// The directory that holds include/ and lib/ for the tool at `tool`: the one above its bin directory, or, if the tool
/// came with a Python package, the package beside the interpreter `python` ("python3.11"; empty: no such package).
std::filesystem::path installation_of(const std::filesystem::path& tool, const std::string& python);

/// That of the running tool.
std::filesystem::path installation();

/// The directories that programs' headers are searched in: include/ of the installation; in a build directory first the
/// sources (which its file source_root names), then what was generated from them.
std::vector<std::filesystem::path> include_directories(const std::filesystem::path& prefix);

/// Where the CPU machine's stand-ins for CUDA's headers are.
std::filesystem::path emulator_headers(const std::filesystem::path& prefix);

/// Fails with a text that says what is missing if `prefix` has no headers for programs.
void require_headers(const std::filesystem::path& prefix);

/// The installation that holds libcauseway.so: $CAUSEWAY_CUDA_PREFIX, this one, or the build directory "cuda" beside
/// it. Throws causeway::Error if there is none.
std::filesystem::path cuda_installation();

/// nvcc from PATH, $CUDA_HOME or /usr/local/cuda.
std::optional<std::string> find_nvcc();

/// The host compiler: `wanted` (-ccbin) if given, else $CXX, else g++, else clang++.
std::string host_compiler(const std::string& wanted);

bool has_gpu();
bool is_file(const std::filesystem::path& path);

/// Whether a directory has headers of a CUDA toolkit or an NVSHMEM that would be found instead of causeway's.
bool hides_our_headers(const std::filesystem::path& directory);

}  // namespace causeway::cc
