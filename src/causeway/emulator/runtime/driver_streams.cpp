// Driver interface: streams, events, and waiting for and writing values in stream order.
#include <causeway/emulator/runtime/driver.hpp>
#include <causeway/emulator/runtime/streams.hpp>
#include <causeway/machine/cpu/context.hpp>

#include <type_traits>

using namespace causeway;
using namespace causeway::emulator;

namespace {

template <class Word>
bool holds(Word now, Word value, unsigned condition) {
  switch (condition) {
    case CU_STREAM_WAIT_VALUE_GEQ:
      return static_cast<std::make_signed_t<Word>>(now - value) >= 0;
    case CU_STREAM_WAIT_VALUE_EQ:
      return now == value;
    case CU_STREAM_WAIT_VALUE_AND:
      return (now & value) != 0;
    default:
      return static_cast<Word>(~(now | value)) != 0;
  }
}

/// A kernel of one thread that polls: a task would hold a worker until the value comes.
template <class Word>
class WaitKernel final : public cpu::Kernel {
 public:
  WaitKernel(const Word* address, Word value, unsigned condition)
      : address_(address), value_(value), condition_(condition) {}
  void run() override {
    while (!holds(__atomic_load_n(address_, __ATOMIC_ACQUIRE), value_, condition_)) cpu::yield();
  }

 private:
  const Word* address_;
  Word value_;
  unsigned condition_;
};

template <class Word>
Word* word_at(CUdeviceptr address) {
  refuse_if(address == 0 || address % sizeof(Word) != 0, cudaErrorInvalidValue);
  return static_cast<Word*>(pointer_of(address));
}

template <class Word>
CUresult wait_value(CUstream stream, CUdeviceptr address, Word value, unsigned flags) {
  return driver_device_call([&] {
    const unsigned condition = flags & ~unsigned{CU_STREAM_WAIT_VALUE_FLUSH};
    refuse_if(condition > CU_STREAM_WAIT_VALUE_NOR, cudaErrorInvalidValue);
    auto kernel = std::make_shared<WaitKernel<Word>>(word_at<Word>(address), value, condition);
    const auto status = cpu::device().launch(stream_of(stream), {}, std::move(kernel));
    refuse_if(status != cpu::LaunchStatus::success, cudaErrorLaunchFailure);
  });
}

template <class Word>
CUresult write_value(CUstream stream, CUdeviceptr address, Word value, unsigned flags) {
  return driver_device_call([&] {
    refuse_if(flags & ~unsigned{CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER}, cudaErrorInvalidValue);
    Word* word = word_at<Word>(address);
    cpu::device().enqueue(stream_of(stream), [=] { __atomic_store_n(word, value, __ATOMIC_RELEASE); });
  });
}

}  // namespace

CUresult cuStreamWaitValue32(CUstream stream, CUdeviceptr address, unsigned value, unsigned flags) {
  return wait_value<unsigned>(stream, address, value, flags);
}
CUresult cuStreamWaitValue64(CUstream stream, CUdeviceptr address, unsigned long long value, unsigned flags) {
  return wait_value<unsigned long long>(stream, address, value, flags);
}
CUresult cuStreamWriteValue32(CUstream stream, CUdeviceptr address, unsigned value, unsigned flags) {
  return write_value<unsigned>(stream, address, value, flags);
}
CUresult cuStreamWriteValue64(CUstream stream, CUdeviceptr address, unsigned long long value, unsigned flags) {
  return write_value<unsigned long long>(stream, address, value, flags);
}

CUresult cuStreamCreate(CUstream* stream, unsigned flags) {
  return from_runtime([&] { return cudaStreamCreateWithFlags(stream, flags); });
}
CUresult cuStreamDestroy(CUstream stream) {
  return from_runtime([&] { return cudaStreamDestroy(stream); });
}
CUresult cuStreamSynchronize(CUstream stream) {
  return from_runtime([&] { return cudaStreamSynchronize(stream); });
}
CUresult cuStreamQuery(CUstream stream) {
  return from_runtime([&] { return cudaStreamQuery(stream); });
}
CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
  return from_runtime([&] { return cudaStreamWaitEvent(stream, event, flags); });
}
CUresult cuEventCreate(CUevent* event, unsigned flags) {
  return from_runtime([&] { return cudaEventCreateWithFlags(event, flags); });
}
CUresult cuEventDestroy(CUevent event) {
  return from_runtime([&] { return cudaEventDestroy(event); });
}
CUresult cuEventRecord(CUevent event, CUstream stream) {
  return from_runtime([&] { return cudaEventRecord(event, stream); });
}
CUresult cuEventSynchronize(CUevent event) {
  return from_runtime([&] { return cudaEventSynchronize(event); });
}
CUresult cuEventQuery(CUevent event) {
  return from_runtime([&] { return cudaEventQuery(event); });
}
CUresult cuEventElapsedTime(float* milliseconds, CUevent start, CUevent end) {
  return from_runtime([&] { return cudaEventElapsedTime(milliseconds, start, end); });
}
