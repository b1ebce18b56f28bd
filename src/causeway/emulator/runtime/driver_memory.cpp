// Driver interface: memory.
#include <causeway/emulator/runtime/allocations.hpp>
#include <causeway/emulator/runtime/driver.hpp>
#include <causeway/emulator/runtime/streams.hpp>
#include <causeway/machine/cpu/context.hpp>

#include <algorithm>

using namespace causeway;
using namespace causeway::emulator;

namespace {

CUresult copy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  return from_runtime([&] { return cudaMemcpy(to, from, bytes, kind); });
}
CUresult copy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, CUstream stream) {
  return from_runtime([&] { return cudaMemcpyAsync(to, from, bytes, kind, stream); });
}

template <class T>
void answer(void* data, T value) {
  *static_cast<T*>(data) = value;
}

void answer_attribute(void* data, CUpointer_attribute attribute, CUdeviceptr pointer, const Allocation& memory) {
  const bool on_host = memory.kind == MemoryKind::host || memory.kind == MemoryKind::registered;
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT: {
      CUcontext context = nullptr;
      cuDevicePrimaryCtxRetain(&context, memory.device);
      return answer(data, context);
    }
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      return answer<unsigned>(data, on_host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE);
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
      return answer(data, pointer);
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
      refuse_if(!on_host && memory.kind != MemoryKind::managed, cudaErrorInvalidValue);
      return answer(data, pointer_of(pointer));
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
      return answer<unsigned>(data, memory.kind == MemoryKind::managed);
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      return answer(data, memory.device);
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
      return answer<unsigned>(data, memory.piece.fd >= 0);
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
      return answer(data, reinterpret_cast<CUdeviceptr>(memory.base));
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
      return answer(data, memory.bytes);
    case CU_POINTER_ATTRIBUTE_MAPPED:
      return answer<unsigned>(data, 1);
  }
  throw Refused{cudaErrorInvalidValue};
}

CUresult fill(CUdeviceptr pointer, unsigned value, size_t count, CUstream stream) {
  return driver_device_call([&] {
    cpu::Stream* ordered = stream_of(stream);
    auto* words = static_cast<unsigned*>(pointer_of(pointer));
    refuse_if(pointer % sizeof(unsigned) != 0 || (count && !words), cudaErrorInvalidValue);
    refuse_if(!allocations().fits(words, count * sizeof(unsigned)), cudaErrorInvalidValue);
    cpu::device().enqueue(ordered, [=] { std::fill_n(words, count, value); });
  });
}

}  // namespace

CUresult cuMemAlloc(CUdeviceptr* pointer, size_t bytes) {
  return from_runtime([&] {
    if (!pointer || !bytes) return cudaErrorInvalidValue;
    return cudaMalloc(reinterpret_cast<void**>(pointer), bytes);
  });
}
CUresult cuMemFree(CUdeviceptr pointer) {
  return from_runtime([&] { return cudaFree(pointer_of(pointer)); });
}
CUresult cuMemAllocHost(void** pointer, size_t bytes) {
  return from_runtime([&] { return cudaMallocHost(pointer, bytes); });
}
CUresult cuMemFreeHost(void* pointer) {
  return from_runtime([&] { return cudaFreeHost(pointer); });
}
CUresult cuMemGetInfo(size_t* free, size_t* total) {
  return from_runtime([&] { return cudaMemGetInfo(free, total); });
}

CUresult cuMemGetAddressRange(CUdeviceptr* base, size_t* size, CUdeviceptr pointer) {
  return driver_device_call([&] {
    const auto memory = allocations().find(pointer_of(pointer));
    refuse_if(!memory, cudaErrorSymbolNotFound);
    if (base) *base = reinterpret_cast<CUdeviceptr>(memory->base);
    if (size) *size = memory->bytes;
  });
}

CUresult cuPointerGetAttribute(void* data, CUpointer_attribute attribute, CUdeviceptr pointer) {
  return driver_device_call([&] {
    const auto memory = allocations().find(pointer_of(pointer));
    refuse_if(!data || !memory, cudaErrorInvalidValue);
    answer_attribute(data, attribute, pointer, *memory);
  });
}

CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  return copy(pointer_of(to), pointer_of(from), bytes, cudaMemcpyDefault);
}
CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return copy(pointer_of(to), pointer_of(from), bytes, cudaMemcpyDefault, stream);
}
CUresult cuMemcpyHtoD(CUdeviceptr to, const void* from, size_t bytes) {
  return copy(pointer_of(to), from, bytes, cudaMemcpyHostToDevice);
}
CUresult cuMemcpyDtoH(void* to, CUdeviceptr from, size_t bytes) {
  return copy(to, pointer_of(from), bytes, cudaMemcpyDeviceToHost);
}
CUresult cuMemcpyDtoD(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  return copy(pointer_of(to), pointer_of(from), bytes, cudaMemcpyDeviceToDevice);
}
CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void* from, size_t bytes, CUstream stream) {
  return copy(pointer_of(to), from, bytes, cudaMemcpyHostToDevice, stream);
}
CUresult cuMemcpyDtoHAsync(void* to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return copy(to, pointer_of(from), bytes, cudaMemcpyDeviceToHost, stream);
}
CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return copy(pointer_of(to), pointer_of(from), bytes, cudaMemcpyDeviceToDevice, stream);
}

CUresult cuMemsetD8(CUdeviceptr pointer, unsigned char value, size_t count) {
  return from_runtime([&] { return cudaMemset(pointer_of(pointer), value, count); });
}
CUresult cuMemsetD8Async(CUdeviceptr pointer, unsigned char value, size_t count, CUstream stream) {
  return from_runtime([&] { return cudaMemsetAsync(pointer_of(pointer), value, count, stream); });
}
CUresult cuMemsetD32(CUdeviceptr pointer, unsigned value, size_t count) { return fill(pointer, value, count, nullptr); }
CUresult cuMemsetD32Async(CUdeviceptr pointer, unsigned value, size_t count, CUstream stream) {
  return fill(pointer, value, count, stream);
}
