// Allocation and registration of memory, and what is known about pointers.
#include <causeway/base/numbers.hpp>
#include <causeway/emulator/runtime/allocations.hpp>
#include <causeway/emulator/runtime/devices.hpp>
#include <causeway/emulator/runtime/streams.hpp>
#include <causeway/machine/cpu/context.hpp>

using namespace causeway;
using namespace causeway::emulator;

namespace {

constexpr size_t kPitchAlignment = 512;

bool is_device_kind(MemoryKind kind) { return kind == MemoryKind::device || kind == MemoryKind::managed; }
bool is_host_kind(MemoryKind kind) { return kind == MemoryKind::host; }

void allocate(void** pointer, size_t bytes, MemoryKind kind, unsigned flags = 0) {
  refuse_if(!pointer, cudaErrorInvalidValue);
  *pointer = bytes ? allocations().allocate(bytes, kind, selected_device(), flags) : nullptr;
}

cudaError_t release(void* pointer, bool (*is_kind)(MemoryKind)) {
  return host_call([&] {
    const cudaError_t failure = device_failure();
    if (!pointer) return failure;
    // Freeing waits for the device, as on a GPU: kernels that still run may use the memory.
    if (failure == cudaSuccess) cpu::device().synchronize();
    refuse_if(!allocations().release(pointer, is_kind), cudaErrorInvalidValue);
    return device_failure();
  });
}

cudaMemoryType type_of(MemoryKind kind) {
  if (kind == MemoryKind::managed) return cudaMemoryTypeManaged;
  return kind == MemoryKind::host || kind == MemoryKind::registered ? cudaMemoryTypeHost : cudaMemoryTypeDevice;
}

}  // namespace

cudaError_t cudaMalloc(void** pointer, size_t bytes) {
  return device_call([&] { allocate(pointer, bytes, MemoryKind::device); });
}

cudaError_t cudaMallocPitch(void** pointer, size_t* pitch, size_t width, size_t height) {
  return device_call([&] {
    refuse_if(!pitch || width > size_t(-1) - kPitchAlignment, cudaErrorInvalidValue);
    *pitch = rounded_up(width, kPitchAlignment);
    refuse_if(height && *pitch > size_t(-1) / height, cudaErrorMemoryAllocation);
    allocate(pointer, *pitch * height, MemoryKind::device);
  });
}

cudaError_t cudaMallocAsync(void** pointer, size_t bytes, cudaStream_t stream) {
  return device_call([&] {
    running_stream_of(stream);
    allocate(pointer, bytes, MemoryKind::device);
  });
}

cudaError_t cudaFree(void* pointer) { return release(pointer, is_device_kind); }

cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream) {
  return device_call([&] {
    cpu::Stream* ordered = running_stream_of(stream);
    if (!pointer) return;
    const auto memory = allocations().find(pointer);
    refuse_if(!memory || memory->base != pointer || !is_device_kind(memory->kind), cudaErrorInvalidValue);
    cpu::device().enqueue(ordered, [pointer] { allocations().release(pointer, is_device_kind); });
  });
}

cudaError_t cudaMallocHost(void** pointer, size_t bytes) {
  return device_call([&] { allocate(pointer, bytes, MemoryKind::host); });
}

cudaError_t cudaHostAlloc(void** pointer, size_t bytes, unsigned flags) {
  return device_call([&] {
    constexpr unsigned known = cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined;
    refuse_if(flags & ~known, cudaErrorInvalidValue);
    allocate(pointer, bytes, MemoryKind::host, flags);
  });
}

cudaError_t cudaFreeHost(void* pointer) { return release(pointer, is_host_kind); }

cudaError_t cudaMallocManaged(void** pointer, size_t bytes, unsigned flags) {
  return device_call([&] {
    refuse_if((flags != cudaMemAttachGlobal && flags != cudaMemAttachHost) || bytes == 0, cudaErrorInvalidValue);
    allocate(pointer, bytes, MemoryKind::managed, flags);
  });
}

cudaError_t cudaHostRegister(void* pointer, size_t bytes, unsigned flags) {
  return device_call([&] {
    constexpr unsigned known =
        cudaHostRegisterPortable | cudaHostRegisterMapped | cudaHostRegisterIoMemory | cudaHostRegisterReadOnly;
    refuse_if(!pointer || bytes == 0 || (flags & ~known), cudaErrorInvalidValue);
    Allocation memory;
    memory.base = static_cast<char*>(pointer);
    memory.bytes = bytes;
    memory.kind = MemoryKind::registered;
    memory.device = selected_device();
    memory.flags = flags;
    refuse_if(!allocations().add(memory), cudaErrorHostMemoryAlreadyRegistered);
  });
}

cudaError_t cudaHostUnregister(void* pointer) {
  return device_call([&] {
    refuse_if(!pointer, cudaErrorInvalidValue);
    cpu::device().synchronize();
    refuse_if(!allocations().remove(pointer, MemoryKind::registered), cudaErrorHostMemoryNotRegistered);
  });
}

cudaError_t cudaHostGetDevicePointer(void** device_pointer, void* host_pointer, unsigned flags) {
  return device_call([&] {
    refuse_if(!device_pointer || !host_pointer || flags != 0, cudaErrorInvalidValue);
    const auto memory = allocations().find(host_pointer);
    refuse_if(!memory || type_of(memory->kind) != cudaMemoryTypeHost, cudaErrorInvalidValue);
    *device_pointer = host_pointer;
  });
}

cudaError_t cudaHostGetFlags(unsigned* flags, void* pointer) {
  return device_call([&] {
    const auto memory = allocations().find(pointer);
    refuse_if(!flags || !memory || type_of(memory->kind) != cudaMemoryTypeHost, cudaErrorInvalidValue);
    *flags = memory->flags;
  });
}

cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
  return device_call([&] {
    refuse_if(!free || !total, cudaErrorInvalidValue);
    *total = Allocations::total();
    *free = *total - std::min(*total, allocations().used());
  });
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  return device_call([&] {
    refuse_if(!attributes || !pointer, cudaErrorInvalidValue);
    *attributes = {cudaMemoryTypeUnregistered, cudaInvalidDeviceId, nullptr, nullptr};
    const auto memory = allocations().find(pointer);
    if (!memory) return;
    attributes->type = type_of(memory->kind);
    attributes->device = memory->device;
    attributes->devicePointer = const_cast<void*>(pointer);
    // All memory can be reached from the host, but a program must not learn to rely on that.
    if (attributes->type != cudaMemoryTypeDevice) attributes->hostPointer = const_cast<void*>(pointer);
  });
}

// Where memory lies does not matter on one machine, so advice is checked and has no effect.
cudaError_t cudaMemAdvise(const void* pointer, size_t count, cudaMemoryAdvise advice, int device) {
  return device_call([&] {
    refuse_if(!pointer || count == 0, cudaErrorInvalidValue);
    refuse_if(advice < cudaMemAdviseSetReadMostly || advice > cudaMemAdviseUnsetAccessedBy, cudaErrorInvalidValue);
    if (device != cudaCpuDeviceId) check_device(device);
  });
}

cudaError_t cudaMemPrefetchAsync(const void* pointer, size_t count, int device, cudaStream_t stream) {
  return device_call([&] {
    refuse_if(!pointer || count == 0 || !allocations().fits(pointer, count), cudaErrorInvalidValue);
    if (device != cudaCpuDeviceId) check_device(device);
    stream_of(stream);
  });
}
