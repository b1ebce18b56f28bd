// PEs as threads need the CPU machine, which is loaded only for that: the tool also serves installations without it.
#include <causeway/base/error.hpp>
#include <tools/cc_paths.hpp>
#include <causeway/runtime/threads_job.hpp>
#include <dlfcn.h>

namespace causeway {

int run_threads(const ThreadsJob& job) {
  const auto library = (cc::installation() / "lib" / "libcauseway_cpu.so").string();
  // Global: the PEs' copies of the program must find this library, not load another.
  void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (!handle) fail(Status::not_supported, "--threads needs the CPU machine: {}", dlerror());
  auto run = reinterpret_cast<int (*)(const ThreadsJob*)>(dlsym(handle, "causeway_run_threads"));
  if (!run) fail(Status::internal, "{} is of another version: {}", library, dlerror());
  return run(&job);
}

}  // namespace causeway
