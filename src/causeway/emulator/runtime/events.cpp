// Events.
#include <causeway/emulator/runtime/handles.hpp>
#include <causeway/emulator/runtime/streams.hpp>
#include <causeway/machine/cpu/context.hpp>

struct CUevent_st {
  explicit CUevent_st(unsigned event_flags) : flags(event_flags) {}

  const unsigned flags;
  std::mutex mutex;  // of `mark`
  causeway::cpu::Event mark;

  /// The point last recorded; waits on it are not disturbed by a new record.
  causeway::cpu::Event snapshot() {
    std::lock_guard lock(mutex);
    return mark;
  }
};

using namespace causeway;
using namespace causeway::emulator;

namespace {

void create(cudaEvent_t* event, unsigned flags) {
  constexpr unsigned known = cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess;
  refuse_if(!event || (flags & ~known), cudaErrorInvalidValue);
  // An event that other processes see would need a handle to send; there is none to get.
  refuse_if(flags & cudaEventInterprocess, cudaErrorNotSupported);
  *event = handles<CUevent_st>().create(flags);
}

void record(cudaEvent_t handle, cudaStream_t stream) {
  const auto event = handles<CUevent_st>().get(handle);
  cpu::Event mark;
  cpu::device().record(mark, stream_of(stream));
  std::lock_guard lock(event->mutex);
  event->mark = mark;
}

}  // namespace

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return device_call([&] { create(event, cudaEventDefault); });
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  return device_call([&] { create(event, flags); });
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return device_call([&] { handles<CUevent_st>().destroy(event); });
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return device_call([&] { record(event, stream); });
}
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags) {
  return device_call([&] {
    refuse_if(flags != cudaEventRecordDefault, cudaErrorInvalidValue);
    record(event, stream);
  });
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  return device_call([&] {
    const auto mark = handles<CUevent_st>().get(event)->snapshot();
    return cpu::device().done(mark) ? cudaSuccess : cudaErrorNotReady;
  });
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return device_call([&] { cpu::device().synchronize(handles<CUevent_st>().get(event)->snapshot()); });
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
  return device_call([&] {
    refuse_if(flags != cudaEventWaitDefault, cudaErrorInvalidValue);
    cpu::device().wait(stream_of(stream), handles<CUevent_st>().get(event)->snapshot());
  });
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  return device_call([&] {
    refuse_if(!milliseconds, cudaErrorInvalidValue);
    const auto first = handles<CUevent_st>().get(start), last = handles<CUevent_st>().get(end);
    refuse_if((first->flags | last->flags) & cudaEventDisableTiming, cudaErrorInvalidResourceHandle);
    const auto from = first->snapshot(), to = last->snapshot();
    cpu::Device& device = cpu::device();
    refuse_if(!device.recorded(from) || !device.recorded(to), cudaErrorInvalidResourceHandle);
    refuse_if(!device.done(from) || !device.done(to), cudaErrorNotReady);
    *milliseconds = std::chrono::duration<float, std::milli>(device.time(to) - device.time(from)).count();
  });
}
