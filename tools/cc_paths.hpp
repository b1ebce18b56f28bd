// Where the installation, the compilers and the GPU are.
#pragma once
#include <filesystem>
#include <optional>
#include <string>

namespace causeway::cc {

/// The directory above the bin directory that the running tool is in.
std::filesystem::path installation();

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
