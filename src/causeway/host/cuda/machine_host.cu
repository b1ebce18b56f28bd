// The host side of the CUDA machine (see machine_host.hpp).
#include <causeway/host/cuda/driver.hpp>
#include <causeway/host/cuda/memory.hpp>
#include <causeway/base/error.hpp>
#include <causeway/coll/move.hpp>
#include <causeway/host/host_poll.hpp>
#include <causeway/host/kernels.hpp>
#include <causeway/host/machine_host.hpp>

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

DeviceId device_id() {
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, binding().device), "asking for the device's properties");
  DeviceId id{};
  static_assert(sizeof id == sizeof properties.uuid, "an id is a UUID");
  std::memcpy(id.data(), &properties.uuid, sizeof id);
  return id;
}

bool has_atomics_on(const DeviceId& id) {
  int devices = 0;
  check(cudaGetDeviceCount(&devices), "counting devices");
  for (int device = 0; device < devices; ++device) {
    cudaDeviceProp properties{};
    check(cudaGetDeviceProperties(&properties, device), "asking for a device's properties");
    if (device == binding().device || std::memcmp(id.data(), &properties.uuid, sizeof id) != 0) continue;
    int native = 1;
    check(cudaDeviceGetP2PAttribute(&native, cudaDevP2PAttrNativeAtomicSupported, binding().device, device),
          "asking for the atomics between two devices");
    return native != 0;
  }
  return true;  // its own, or one that this process cannot ask about
}

std::unique_ptr<Memory> make_memory(int) { return make_cuda_memory(binding().device); }

void copy(void* to, const void* from, size_t bytes) {
  if (bytes == 0) return;
  cudaStream_t stream = own_stream();
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream), "copying");
  finish(stream);
}

void zero(void* address, size_t bytes) {
  cudaStream_t stream = own_stream();
  check(cudaMemsetAsync(address, 0, bytes, stream), "clearing memory");
  finish(stream);
}

void store_word(uint64_t* address, uint64_t value) { copy(address, &value, sizeof value); }
uint64_t load_word(const uint64_t* address) {
  uint64_t value = 0;
  copy(&value, address, sizeof value);
  return value;
}
void wait_for(const DeviceWorld& world, const WaitInfo& info, const std::function<bool(uint64_t& seen)>& ready) {
  host_poll(world, info, ready);
}

void fill(const UnitRegistration& unit, const DeviceWorld& world) {
  const int status = unit.fill(&world, own_stream());
  if (status == cudaErrorCudartUnloading) return;  // the program is ending
  if (status != cudaSuccess)
    fail(Status::internal, "filling the device state of {}: {}", unit.file, cudaGetErrorString(cudaError_t(status)));
}

void empty_in_forked_child(const UnitRegistration&) {}  // kernels do not run there

void* make_shared(size_t bytes) {
  void* memory = nullptr;
  check(cudaHostAlloc(&memory, bytes, cudaHostAllocPortable | cudaHostAllocMapped), "allocating pinned memory");
  return std::memset(memory, 0, bytes);
}
void free_shared(void* memory) { cudaFreeHost(memory); }

void* make_device(size_t bytes) {
  void* memory = nullptr;
  // Also while a stream of this thread is captured: what is allocated is no part of the graph.
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  check(cudaThreadExchangeStreamCaptureMode(&mode), "allocating device memory");
  const cudaError_t status = cudaMalloc(&memory, bytes);
  check(cudaThreadExchangeStreamCaptureMode(&mode), "allocating device memory");
  if (status == cudaErrorMemoryAllocation) {
    (void)cudaGetLastError();  // told here
    fail(Status::out_of_memory, "{} bytes of device memory cannot be had", bytes);
  }
  check(status, "allocating device memory");
  return memory;
}
void free_device(void* memory) { cudaFree(memory); }

void copy_on_stream(void* to, const void* from, size_t bytes, Stream stream) {
  if (bytes) check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream), "copying on a stream");
}
void copy_strided_on_stream(void* to, ptrdiff_t to_step, const void* from, ptrdiff_t from_step, size_t bytes,
                            size_t count, Stream stream) {
  constexpr ptrdiff_t kStepMax = (ptrdiff_t{1} << 31) - 1;  // of a two-dimensional copy
  const ptrdiff_t width = static_cast<ptrdiff_t>(bytes);
  if (count > 1 && to_step >= width && to_step <= kStepMax && from_step >= width && from_step <= kStepMax) {
    check(cudaMemcpy2DAsync(to, size_t(to_step), from, size_t(from_step), bytes, count, cudaMemcpyDefault, stream),
          "copying strided elements on a stream");
    return;
  }
  for (ptrdiff_t i = 0; i < static_cast<ptrdiff_t>(count); ++i)
    copy_on_stream(static_cast<char*>(to) + i * to_step, static_cast<const char*>(from) + i * from_step, bytes, stream);
}

bool device_reaches(const void* address) {
  cudaPointerAttributes found{};
  if (cudaPointerGetAttributes(&found, address) == cudaSuccess && found.type != cudaMemoryTypeUnregistered) return true;
  cudaGetLastError();
  int pageable = 0;
  return cudaDeviceGetAttribute(&pageable, cudaDevAttrPageableMemoryAccess, binding().device) == cudaSuccess &&
         pageable;
}

void register_local(void* address, size_t bytes) {
  cudaPointerAttributes found{};
  const bool known =
      cudaPointerGetAttributes(&found, address) == cudaSuccess && found.type != cudaMemoryTypeUnregistered;
  cudaGetLastError();
  if (!known)
    check(cudaHostRegister(address, bytes, cudaHostRegisterPortable | cudaHostRegisterMapped), "registering memory");
}
void unregister_local(void* address) {
  if (cudaHostUnregister(address) != cudaSuccess) cudaGetLastError();  // device or pinned memory: it was known before
}

void* fetch_buffer() {
  static void* const address = make_shared(16);
  return address;
}

void synchronize(Stream stream) { check(cudaStreamSynchronize(stream), "waiting for a stream"); }
void synchronize_device() { check(cudaDeviceSynchronize(), "waiting for the device"); }

// Kernels cannot be asked from outside; their waits report by themselves after CAUSEWAY_WAIT_REPORT.
void listen_for_dumps() {}

Stream private_stream() { return own_stream(); }

namespace {

/// In the team's host channel; complete on return.
template <class Op>
void run_in_team(const DeviceWorld& world, const Op& op) {
  constexpr Plan plan = choose(Op::kKind, Facts{true, Caller::host});
  cudaStream_t stream = own_stream();
  launch_collective(world, op, world.teams_max + op.team, Arguments::good, plan, stream);
  finish(stream);
}

}  // namespace

void barrier(const DeviceWorld& world, const char*, int team, bool completes) {
  if (completes) return run_in_team(world, Barrier{team});
  run_in_team(world, Sync{team});
}

void fcollect(const DeviceWorld& world, const char*, int team, void* dest, const void* source, size_t bytes) {
  run_in_team(world, Fcollect{team, dest, source, bytes});
}

}  // namespace causeway::machine_host
