// The library's only address translation.
#pragma once
#include <causeway/machine/machine.hpp>
#include <causeway/view/device_world.hpp>

#include <cstdint>

namespace causeway {

/// The same object in the heap of `pe`. `local` points into the caller's own heap.
template <class T>
CAUSEWAY_HOST_DEVICE T* at(const DeviceWorld& world, T* local, int pe) {
  return reinterpret_cast<T*>(reinterpret_cast<uint64_t>(local) +
                              static_cast<uint64_t>(static_cast<int64_t>(pe - world.pe)) * world.heap_stride);
}

/// Where `local` lies in the caller's heap; at least *heap_bytes if it does not.
CAUSEWAY_HOST_DEVICE uint64_t heap_offset(const DeviceWorld& world, const void* local) {
  return reinterpret_cast<uint64_t>(local) - (world.heap_base + static_cast<uint64_t>(world.pe) * world.heap_stride);
}

/// Does the address lie where some PE's heap is or may grow to?
CAUSEWAY_HOST_DEVICE bool in_heap_space(const DeviceWorld& world, const void* address) {
  return reinterpret_cast<uint64_t>(address) - world.heap_base < world.heap_stride * static_cast<uint64_t>(world.pes);
}

/// Is [local, local + bytes) a part of the caller's symmetric heap?
CAUSEWAY_HOST_DEVICE bool in_heap(const DeviceWorld& world, const void* local, uint64_t bytes) {
  const uint64_t offset = heap_offset(world, local), mapped = *world.heap_bytes;
  return offset <= mapped && bytes <= mapped - offset;
}

}  // namespace causeway
