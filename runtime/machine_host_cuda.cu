// The host side of the CUDA machine (see machine_host.hpp).
#include <causeway/api/stream_ops.hpp>
#include <causeway/backend/nvlink/driver.hpp>
#include <causeway/backend/nvlink/memory_cuda.hpp>
#include <causeway/runtime/machine_host.hpp>

#include <cstdlib>
#include <cstring>

namespace causeway::machine_host {
namespace {

using cuda::check;

/// Kernels are loaded when a program starts, never on demand: loading one while another spins can wait for the spinning
/// one for ever. The driver reads this when it is initialised, which is after libraries are loaded; the user's own
/// setting wins.
[[maybe_unused]] const int module_loading = setenv("CUDA_MODULE_LOADING", "EAGER", 0);

/// What this process has bound.
struct Binding {
  int device = -1;
  cudaStream_t stream = nullptr;  // ours alone: never the legacy stream, which would wait behind spinning kernels
};
Binding& binding() {
  static Binding bound;
  return bound;
}

/// The calling thread may never have chosen a device: its work belongs to the one that the PE has bound.
cudaStream_t own_stream() {
  CUcontext context = nullptr;
  if (cuda::driver().get_current_context(&context) != CUDA_SUCCESS || !context)
    check(cudaSetDevice(binding().device), "choosing the PE's device");
  return binding().stream;
}

void finish(cudaStream_t stream) { check(cudaStreamSynchronize(stream), "waiting for the library's stream"); }

}  // namespace

const char* name() { return "cuda"; }

bool device_selected() {
  if (!cuda::driver_present()) return false;
  CUcontext context = nullptr;
  return cuda::driver().get_current_context(&context) == CUDA_SUCCESS && context != nullptr;
}

void bind_device(int, int) {
  cuda::driver();
  Binding& bound = binding();
  int device = 0;
  check(cudaGetDevice(&device), "asking for the current device");
  check(cudaSetDevice(device), "choosing the current device");
  check(cudaFree(nullptr), "making a context on the current device");
  if (bound.stream && bound.device == device) return;
  bound.device = device;
  int least = 0, greatest = 0;
  check(cudaDeviceGetStreamPriorityRange(&least, &greatest), "asking for stream priorities");
  check(cudaStreamCreateWithPriority(&bound.stream, cudaStreamNonBlocking, greatest), "making the library's stream");
}

std::unique_ptr<Memory> make_memory(int) { return make_cuda_memory(binding().device); }

void copy(void* to, const void* from, size_t bytes) {
  if (bytes == 0) return;
  cudaStream_t stream = own_stream();
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream), "copying");
  finish(stream);
}

void zero(void* place, size_t bytes) {
  cudaStream_t stream = own_stream();
  check(cudaMemsetAsync(place, 0, bytes, stream), "clearing memory");
  finish(stream);
}

void fill(const UnitRegistration& unit, const DeviceWorld& world) {
  const int status = unit.fill(&world, own_stream());
  if (status == cudaErrorCudartUnloading) return;  // the program is ending
  if (status != cudaSuccess)
    fail(Status::internal, "filling the device state of {}: {}", unit.file, cudaGetErrorString(cudaError_t(status)));
}

void* make_shared(size_t bytes) {
  void* memory = nullptr;
  check(cudaHostAlloc(&memory, bytes, cudaHostAllocPortable | cudaHostAllocMapped), "allocating pinned memory");
  return std::memset(memory, 0, bytes);
}
void free_shared(void* memory) { cudaFreeHost(memory); }

void copy_on_stream(void* to, const void* from, size_t bytes, Stream stream) {
  if (bytes) check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream), "copying on a stream");
}
void synchronize(Stream stream) { check(cudaStreamSynchronize(stream), "waiting for a stream"); }
void synchronize_device() { check(cudaDeviceSynchronize(), "waiting for the device"); }

// Kernels cannot be asked from outside; their waits report by themselves after CAUSEWAY_WAIT_REPORT.
void listen_for_dumps() {}

Stream private_stream() { return own_stream(); }

void barrier(const DeviceWorld& world, const char*, int team, bool completes) {
  cudaStream_t stream = own_stream();
  machine::launch(host::BarrierKernel{world, world.teams_max + team, completes}, 1, 32, stream);
  finish(stream);
}

void fcollect(const DeviceWorld& world, const char*, int team, void* dest, const void* source, size_t bytes) {
  cudaStream_t stream = own_stream();
  machine::launch(host::FcollectKernel{world, world.teams_max + team, dest, source, bytes}, 1, machine::kStreamThreads,
                  stream);
  finish(stream);
}

}  // namespace causeway::machine_host
