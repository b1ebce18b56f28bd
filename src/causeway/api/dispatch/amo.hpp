// Atomic memory operations (see dispatch.hpp).
#pragma once
#include <causeway/amo/amo.hpp>
#include <causeway/api/check.hpp>
#include <causeway/machine/group.hpp>
#include <causeway/view/unit.hpp>

#include <cstddef>
#include <cstdint>

namespace causeway::api {

template <class T>
CAUSEWAY_DEVICE bool check_atomic(const DeviceWorld& world, const char* name, const char* symmetric,
                                  const char* aligned, const T* place, int pe) {
  return check_remote(world, name, symmetric, place, sizeof(T), pe) && check_aligned(world, name, aligned, place);
}

template <class T>
CAUSEWAY_DEVICE T atomic_fetch(const char* name, Thread, const T* source, int pe) {
  const DeviceWorld& world = unit::world();
  if (!check_atomic(world, name, kSourceSymmetric, kSourceAligned, source, pe)) return T{};
  return causeway::atomic_fetch(world, source, pe);
}

template <class T>
CAUSEWAY_DEVICE void atomic_set(const char* name, Thread, T* dest, T value, int pe) {
  const DeviceWorld& world = unit::world();
  if (check_atomic(world, name, kDestSymmetric, kDestAligned, dest, pe)) causeway::atomic_set(world, dest, value, pe);
}

template <class Operation, class T>
CAUSEWAY_DEVICE T atomic_update(const char* name, Thread, Operation, T* dest, T value, int pe) {
  const DeviceWorld& world = unit::world();
  if (!check_atomic(world, name, kDestSymmetric, kDestAligned, dest, pe)) return T{};
  return causeway::atomic_update<Operation>(world, dest, value, pe);
}

template <class T>
CAUSEWAY_DEVICE T atomic_compare_swap(const char* name, Thread, T* dest, T condition, T value, int pe) {
  const DeviceWorld& world = unit::world();
  if (!check_atomic(world, name, kDestSymmetric, kDestAligned, dest, pe)) return T{};
  return causeway::atomic_compare_swap(world, dest, condition, value, pe);
}

// By load and store the result is there when the call returns: the non-blocking forms have nothing left to start.

/// True if there is a place for the result.
template <class T>
CAUSEWAY_DEVICE bool check_fetch(const DeviceWorld& world, const char* name, const T* fetch) {
  if (!machine::kChecks || (fetch && reinterpret_cast<uint64_t>(fetch) % alignof(T) == 0)) return true;
  misuse(world, name, "fetch is {x}: must be a place for an element, at a multiple of its size {}",
         static_cast<long long>(reinterpret_cast<uint64_t>(fetch)), alignof(T));
  return false;
}

template <class T>
CAUSEWAY_DEVICE void atomic_fetch_nbi(const char* name, Thread, T* fetch, const T* source, int pe) {
  const DeviceWorld& world = unit::world();
  if (check_fetch(world, name, fetch) && check_atomic(world, name, kSourceSymmetric, kSourceAligned, source, pe))
    *fetch = causeway::atomic_fetch(world, source, pe);
}

template <class Operation, class T>
CAUSEWAY_DEVICE void atomic_update_nbi(const char* name, Thread, Operation, T* fetch, T* dest, T value, int pe) {
  const DeviceWorld& world = unit::world();
  if (check_fetch(world, name, fetch) && check_atomic(world, name, kDestSymmetric, kDestAligned, dest, pe))
    *fetch = causeway::atomic_update<Operation>(world, dest, value, pe);
}

template <class T>
CAUSEWAY_DEVICE void atomic_compare_swap_nbi(const char* name, Thread, T* fetch, T* dest, T condition, T value,
                                             int pe) {
  const DeviceWorld& world = unit::world();
  if (check_fetch(world, name, fetch) && check_atomic(world, name, kDestSymmetric, kDestAligned, dest, pe))
    *fetch = causeway::atomic_compare_swap(world, dest, condition, value, pe);
}

}  // namespace causeway::api
