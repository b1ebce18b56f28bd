// Data movement (see dispatch.hpp).
#pragma once
#include <causeway/api/check.hpp>
#include <causeway/rma/rma.hpp>
#include <causeway/rma/strided.hpp>
#include <causeway/view/unit.hpp>

#include <cstddef>
#include <cstdint>

namespace causeway::api {

template <class T>
CAUSEWAY_DEVICE void p(const char* name, Thread, T* dest, T value, int pe) {
  const DeviceWorld& world = unit::world();
  if (!check_remote(world, name, kDestSymmetric, dest, sizeof(T), pe) ||
      !check_aligned(world, name, kDestAligned, dest))
    return;
  causeway::p(world, dest, value, pe);
}

template <class T>
CAUSEWAY_DEVICE T g(const char* name, Thread, const T* source, int pe) {
  const DeviceWorld& world = unit::world();
  if (!check_remote(world, name, kSourceSymmetric, source, sizeof(T), pe) ||
      !check_aligned(world, name, kSourceAligned, source))
    return T{};
  return causeway::g(world, source, pe);
}

template <class Group>
CAUSEWAY_DEVICE void put(const char* name, Group group, void* dest, const void* source, size_t bytes, int pe) {
  const DeviceWorld& world = unit::world();
  if (!check_remote(world, name, kDestSymmetric, dest, bytes, pe)) return;
  causeway::put(world, group, dest, source, bytes, pe);
}

template <class Group>
CAUSEWAY_DEVICE void get(const char* name, Group group, void* dest, const void* source, size_t bytes, int pe) {
  const DeviceWorld& world = unit::world();
  if (!check_remote(world, name, kSourceSymmetric, source, bytes, pe)) return;
  causeway::get(world, group, dest, source, bytes, pe);
}

// A copy by load and store has read its source when it returns: the non-blocking forms have nothing left to start.
template <class Group>
CAUSEWAY_DEVICE void put_nbi(const char* name, Group group, void* dest, const void* source, size_t bytes, int pe) {
  put(name, group, dest, source, bytes, pe);
}
template <class Group>
CAUSEWAY_DEVICE void get_nbi(const char* name, Group group, void* dest, const void* source, size_t bytes, int pe) {
  get(name, group, dest, source, bytes, pe);
}

// ---------------------------------------------------------------- strided

template <size_t Bytes, class Group>
CAUSEWAY_DEVICE void iput(const char* name, Group group, Element<Bytes> element, void* dest, const void* source,
                          ptrdiff_t dest_stride, ptrdiff_t source_stride, size_t elements, int pe) {
  const DeviceWorld& world = unit::world();
  if (check_remote_strided(world, name, kDestSymmetric, dest, dest_stride, elements, Bytes, pe))
    causeway::iput(world, group, element, dest, source, dest_stride, source_stride, elements, pe);
}

template <size_t Bytes, class Group>
CAUSEWAY_DEVICE void iget(const char* name, Group group, Element<Bytes> element, void* dest, const void* source,
                          ptrdiff_t dest_stride, ptrdiff_t source_stride, size_t elements, int pe) {
  const DeviceWorld& world = unit::world();
  if (check_remote_strided(world, name, kSourceSymmetric, source, source_stride, elements, Bytes, pe))
    causeway::iget(world, group, element, dest, source, dest_stride, source_stride, elements, pe);
}

}  // namespace causeway::api
