// Builds for a GPU: nvcc, with the user's options as they are and causeway's headers before any other NVSHMEM's.
#include <causeway/base/error.hpp>
#include <tools/cc_build.hpp>
#include <tools/cc_paths.hpp>
#include <tools/cc_process.hpp>

#include <algorithm>

namespace causeway::cc {
namespace {

// Programs name NVSHMEM's libraries; libcauseway.so stands for them.
bool is_nvshmem_library(const std::string& argument) {
  return argument == "-lnvshmem" || argument == "-lnvshmem_host" || argument == "-lnvshmem_device" ||
         argument == "-lcauseway";
}

}  // namespace

int build_for_cuda(const Options& options) {
  const auto nvcc = find_nvcc();
  if (!nvcc)
    fail(Status::invalid_value,
         "--machine cuda needs nvcc, which is neither in PATH nor in $CUDA_HOME/bin nor in "
         "/usr/local/cuda/bin");
  const auto prefix = cuda_installation();
  require_headers(prefix);
  Command command = {*nvcc};
  if (options.standard.empty()) command.emplace_back("-std=c++17");
  if (!options.has_architecture) command.emplace_back(has_gpu() ? "-arch=native" : "-arch=sm_90");
  for (const auto& directory : include_directories(prefix)) command.push_back("-I" + directory.string());
  std::copy_if(options.for_nvcc.begin(), options.for_nvcc.end(), std::back_inserter(command),
               [](const std::string& argument) { return !is_nvshmem_library(argument); });
  if (options.stage == Stage::link) {
    const std::string library = (prefix / "lib").string();
    command.insert(command.end(), {"-L" + library, "-lcauseway", "-Xlinker", "-rpath=" + library});
  }
  return run(command, options.verbose);
}

}  // namespace causeway::cc
