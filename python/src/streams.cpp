// Devices, streams, events and copies, by the CUDA runtime interface, which the CPU machine has too.
#include "native.hpp"

namespace causeway::python {
namespace {

int device_count() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) == cudaSuccess) return devices;
  cudaGetLastError();
  return 0;
}

int device() {
  int now = 0;
  check(cudaGetDevice(&now), "cudaGetDevice");
  return now;
}

Address make_stream() {
  // Before others: communication is what the rest of a step waits for.
  int least = 0, greatest = 0;
  cudaStream_t stream = nullptr;
  check(cudaDeviceGetStreamPriorityRange(&least, &greatest), "cudaDeviceGetStreamPriorityRange");
  check(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, greatest), "cudaStreamCreateWithPriority");
  return reinterpret_cast<Address>(stream);
}

Address make_event() {
  cudaEvent_t event = nullptr;
  check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "cudaEventCreateWithFlags");
  return reinterpret_cast<Address>(event);
}

bool event_is_done(Address event) {
  const cudaError_t found = cudaEventQuery(as_event(event));
  if (found == cudaErrorNotReady) {
    cudaGetLastError();
    return false;
  }
  check(found, "cudaEventQuery");
  return true;
}

bool is_capturing(Address stream) {
  if (stream == 0) return false;  // the default stream cannot be captured, and must not be asked while another is
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  check(cudaStreamIsCapturing(as_stream(stream), &status), "cudaStreamIsCapturing");
  return status != cudaStreamCaptureStatusNone;
}

/// `in_order`: both ends are in order with the stream, as device memory is, whatever the runtime takes them for.
void copy(Address dest, Address source, size_t bytes, Address stream, bool in_order) {
  if (bytes == 0) return;
  const auto kind = in_order ? cudaMemcpyDeviceToDevice : cudaMemcpyDefault;
  call([&] {
    check(cudaMemcpyAsync(as_pointer(dest), as_pointer(source), bytes, kind, as_stream(stream)), "cudaMemcpyAsync");
  });
}

}  // namespace

void add_streams(nb::module_& module) {
  module.def("device_count", &device_count);
  module.def("device", &device);
  module.def("set_device", [](int device) { check(cudaSetDevice(device), "cudaSetDevice"); });
  module.def("make_stream", &make_stream);
  module.def("destroy_stream", [](Address stream) { cudaStreamDestroy(as_stream(stream)); });
  module.def("synchronize", [](Address stream) {
    call([&] { check(cudaStreamSynchronize(as_stream(stream)), "cudaStreamSynchronize"); });
  });
  module.def("stream_wait_event", [](Address stream, Address event) {
    check(cudaStreamWaitEvent(as_stream(stream), as_event(event), 0), "cudaStreamWaitEvent");
  });
  module.def("is_capturing", &is_capturing);
  module.def("make_event", &make_event);
  module.def("destroy_event", [](Address event) { cudaEventDestroy(as_event(event)); });
  module.def("record_event", [](Address event, Address stream) {
    check(cudaEventRecord(as_event(event), as_stream(stream)), "cudaEventRecord");
  });
  module.def("event_is_done", &event_is_done);
  module.def("synchronize_event", [](Address event) {
    call([&] { check(cudaEventSynchronize(as_event(event)), "cudaEventSynchronize"); });
  });
  module.def("copy", &copy);
  module.def("fill", [](Address dest, int value, size_t bytes, Address stream) {
    if (bytes > 0) check(cudaMemsetAsync(as_pointer(dest), value, bytes, as_stream(stream)), "cudaMemsetAsync");
  });
}

}  // namespace causeway::python
