// Streams: creation, queries, waiting, host functions in stream order.
#include <causeway/emulator/runtime/streams.hpp>
#include <causeway/machine/cpu/context.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace causeway::emulator {
namespace {

constexpr int kGreatestPriority = -5, kLeastPriority = 0;  // an H200 answers these

/// The calling thread's default stream on its device, made at first use; the device destroys it.
cpu::Stream* own_stream(cpu::Device& device) {
  thread_local std::vector<std::pair<cpu::Device*, cpu::Stream*>> mine;
  const auto found = std::find_if(mine.begin(), mine.end(), [&](const auto& entry) { return entry.first == &device; });
  if (found == mine.end()) return mine.emplace_back(&device, device.create_stream(true)).second;
  // A device that took a dead one's address does not own the dead one's stream.
  if (!device.owns(found->second)) found->second = device.create_stream(true);
  return found->second;
}

cpu::Stream* created_stream_of(cudaStream_t handle) {
  const bool is_default = handle == nullptr || handle == cudaStreamLegacy || handle == cudaStreamPerThread;
  refuse_if(is_default, cudaErrorInvalidResourceHandle);
  return stream_of(handle);
}

void create(cudaStream_t* stream, unsigned flags, int priority) {
  refuse_if(!stream || (flags & ~unsigned{cudaStreamNonBlocking}), cudaErrorInvalidValue);
  priority = std::clamp(priority, kGreatestPriority, kLeastPriority);
  *stream = reinterpret_cast<cudaStream_t>(cpu::device().create_stream(!(flags & cudaStreamNonBlocking), priority));
}

}  // namespace

cpu::Stream* stream_of(cudaStream_t handle) {
  cpu::Device& device = cpu::device();
  if (handle == nullptr || handle == cudaStreamLegacy) return device.default_stream();
  if (handle == cudaStreamPerThread) return own_stream(device);
  auto* stream = reinterpret_cast<cpu::Stream*>(handle);
  refuse_if(!device.owns(stream), cudaErrorInvalidResourceHandle);
  return stream;
}

cpu::Stream* running_stream_of(cudaStream_t handle) {
  cpu::Stream* stream = stream_of(handle);
  refuse_if(cpu::device().capturing(stream), cudaErrorStreamCaptureUnsupported);
  return stream;
}

}  // namespace causeway::emulator

using namespace causeway;
using namespace causeway::emulator;

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return device_call([&] { create(stream, cudaStreamDefault, 0); });
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return device_call([&] { create(stream, flags, 0); });
}
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority) {
  return device_call([&] { create(stream, flags, priority); });
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return device_call([&] { cpu::device().destroy_stream(created_stream_of(stream)); });
}

cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned* flags) {
  return device_call([&] {
    refuse_if(!flags, cudaErrorInvalidValue);
    *flags = stream_of(stream)->blocking() ? cudaStreamDefault : cudaStreamNonBlocking;
  });
}

cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) {
  return device_call([&] {
    refuse_if(!priority, cudaErrorInvalidValue);
    *priority = stream_of(stream)->priority();
  });
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return host_call([&] {
    if (least) *least = kLeastPriority;
    if (greatest) *greatest = kGreatestPriority;
  });
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return device_call([&] { return cpu::device().idle(running_stream_of(stream)) ? cudaSuccess : cudaErrorNotReady; });
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return device_call([&] { cpu::device().synchronize(running_stream_of(stream)); });
}

cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* data, unsigned flags) {
  return device_call([&] {
    refuse_if(!callback || flags != 0, cudaErrorInvalidValue);
    cpu::device().enqueue(running_stream_of(stream), [=] { callback(stream, device_failure(), data); });
  });
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
  return device_call([&] {
    refuse_if(!function, cudaErrorInvalidValue);
    cpu::device().enqueue(stream_of(stream), [=] { function(data); });
  });
}
