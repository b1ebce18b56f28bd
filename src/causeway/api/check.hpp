// Checks of arguments on the data path: always on the CPU machine, on CUDA in debug builds (CAUSEWAY_DEBUG or nvcc -G).
// A failed check says so, leaves a record for the host, and the operation is skipped.
#pragma once
#include <causeway/view/report_misuse.hpp>
#include <causeway/order/barrier.hpp>

#include <cstddef>
#include <cstdint>

namespace causeway::api {

constexpr const char* kDestSymmetric = "dest is {x} ({} bytes): must lie in the caller's symmetric heap, {x} to {x}";
constexpr const char* kSourceSymmetric =
    "source is {x} ({} bytes): must lie in the caller's symmetric heap, {x} to {x}";
constexpr const char* kSignalSymmetric =
    "sig_addr is {x} ({} bytes): must lie in the caller's symmetric heap, {x} to {x}";
constexpr const char* kDestAligned = "dest is {x}: must be a multiple of the element's size {}";
constexpr const char* kSourceAligned = "source is {x}: must be a multiple of the element's size {}";
constexpr const char* kSignalAligned = "sig_addr is {x}: must be a multiple of the element's size {}";
constexpr const char* kVariableAligned = "ivar is {x}: must be a multiple of the element's size {}";
constexpr const char* kVariableSymmetric =
    "ivar is {x} ({} bytes): must lie in the caller's symmetric heap, {x} to {x}";

CAUSEWAY_DEVICE bool check_ready(const DeviceWorld& world, const char* name) {
  if (!machine::kChecks || world.pes > 0) return true;
  misuse(world, name, "called before nvshmem_init or after nvshmem_finalize");
  return false;
}

CAUSEWAY_DEVICE bool check_pe(const DeviceWorld& world, const char* name, int pe) {
  if (!machine::kChecks) return true;
  if (!check_ready(world, name)) return false;
  if (static_cast<unsigned>(pe) < static_cast<unsigned>(world.pes)) return true;
  misuse(world, name, "pe is {}: must be 0 to {}", pe, world.pes - 1);
  return false;
}

/// `what` is one of the texts above, with places for the address, the bytes, and the heap's begin and end.
CAUSEWAY_DEVICE bool check_symmetric(const DeviceWorld& world, const char* name, const char* what, const void* address,
                                     uint64_t bytes) {
  if (!machine::kChecks) return true;
  if (!check_ready(world, name)) return false;
  if (bytes == 0 || in_heap(world, address, bytes)) return true;
  const auto at = reinterpret_cast<long long>(address),
             begin = at - static_cast<long long>(heap_offset(world, address));
  misuse(world, name, what, at, static_cast<long long>(bytes), begin,
         begin + static_cast<long long>(*world.heap_bytes));
  return false;
}

/// Is it memory of the caller's device outside of all heaps? Operations with the caller itself take it, since nothing is
/// translated (programs count on it).
CAUSEWAY_DEVICE bool own_memory(const DeviceWorld& world, const void* address, int pe) {
  return pe == world.pe && address && !in_heap_space(world, address);
}

/// A PE, and what an operation reads or writes there: a part of the symmetric heap, or own memory.
CAUSEWAY_DEVICE bool check_remote(const DeviceWorld& world, const char* name, const char* what, const void* address,
                                  uint64_t bytes, int pe) {
  if (!machine::kChecks) return true;
  return check_pe(world, name, pe) &&
         (own_memory(world, address, pe) || check_symmetric(world, name, what, address, bytes));
}

template <class T>
CAUSEWAY_DEVICE bool check_aligned(const DeviceWorld& world, const char* name, const char* what, const T* address) {
  if (!machine::kChecks || reinterpret_cast<uint64_t>(address) % alignof(T) == 0) return true;
  misuse(world, name, what, static_cast<long long>(reinterpret_cast<uint64_t>(address)), alignof(T));
  return false;
}

/// Every `stride`-th of `elements` elements of `size` bytes in the symmetric heap, from `address` on; strides of any sign.
CAUSEWAY_DEVICE bool check_strided(const DeviceWorld& world, const char* name, const char* what, const void* address,
                                   ptrdiff_t stride, size_t elements, size_t size) {
  if (!machine::kChecks) return true;
  if (!check_ready(world, name)) return false;
  if (elements == 0) return true;
  constexpr double kFar = 4e18;  // further than any address; below it the product below does not overflow
  if (double(elements) * double(size) * (stride < 0 ? -double(stride) : double(stride)) > kFar)
    return check_symmetric(world, name, what, address, static_cast<uint64_t>(kFar));
  const ptrdiff_t last = static_cast<ptrdiff_t>((elements - 1) * size) * stride;
  const char* first = static_cast<const char*>(address) + (last < 0 ? last : 0);
  return check_symmetric(world, name, what, first, static_cast<uint64_t>(last < 0 ? -last : last) + size);
}

/// The same at a PE (see check_remote).
CAUSEWAY_DEVICE bool check_remote_strided(const DeviceWorld& world, const char* name, const char* what,
                                          const void* address, ptrdiff_t stride, size_t elements, size_t size, int pe) {
  if (!machine::kChecks) return true;
  return check_pe(world, name, pe) &&
         (own_memory(world, address, pe) || check_strided(world, name, what, address, stride, elements, size));
}

/// `what` has places for the value and the highest that is accepted.
CAUSEWAY_DEVICE bool check_range(const DeviceWorld& world, const char* name, const char* what, long long value,
                                 long long low, long long high) {
  if (!machine::kChecks || (value >= low && value <= high)) return true;
  misuse(world, name, what, value, high);
  return false;
}

/// The team's record, or null (reported) if there is no such team or the caller is no member.
CAUSEWAY_DEVICE const TeamView* find_team(const DeviceWorld& world, const char* name, int team) {
  if (machine::kChecks) {
    if (!check_ready(world, name)) return nullptr;
    if (team < 0 || team >= world.teams_max || world.teams[team].pe < 0) {
      misuse(world, name, "team is {}: must be a team that the caller is a member of", team);
      return nullptr;
    }
  }
  return &world.teams[machine::on_host() ? world.teams_max + team : team];
}

}  // namespace causeway::api
