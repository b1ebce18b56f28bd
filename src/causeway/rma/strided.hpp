// Strided data movement: iput and iget (OpenSHMEM 1.5, sections 9.5.2 and 9.5.5), and what alltoalls is made of.
#pragma once
#include <causeway/view/operation.hpp>
#include <causeway/machine/group.hpp>

#include <cstddef>
#include <cstdint>

namespace causeway {

/// Element i goes from `from` + i * `from_stride` to `to` + i * `to_stride`, strides in elements, of any sign. All
/// threads of the group call it with the same arguments. Does not sync the group.
template <size_t Bytes, class Group>
CAUSEWAY_DEVICE void copy_strided(Group group, Towards towards, void* to, const void* from, ptrdiff_t to_stride,
                                  ptrdiff_t from_stride, size_t elements) {
  for (size_t i = group.rank(); i < elements; i += group.size()) {
    const ptrdiff_t k = static_cast<ptrdiff_t>(i);
    machine::copy_element<Bytes>(towards, static_cast<char*>(to) + k * to_stride * ptrdiff_t(Bytes),
                                 static_cast<const char*>(from) + k * from_stride * ptrdiff_t(Bytes));
  }
}

/// Copies strided elements to `dest` at `pe`; all threads of the group call it, and it is synchronised first and last
/// as in put.
template <size_t Bytes>
struct Iput {
  void* dest;
  const void* source;
  ptrdiff_t dest_stride, source_stride;
  size_t elements;
  int pe;

  static constexpr Kind kKind = Kind::copy;
  static constexpr bool kCompletes = true;
  using Result = void;

  template <class C>
  CAUSEWAY_HOST_DEVICE void check(C& check) const {
    check.remote_strided("dest", dest, dest_stride, elements, Bytes, pe);
  }
  template <class Group>
  CAUSEWAY_DEVICE void run(const DeviceWorld& world, const char*, Group group) const {
    group.sync();
    copy_strided<Bytes>(group, Towards::peer, at(world, dest, pe), source, dest_stride, source_stride, elements);
    group.sync();
  }
  [[nodiscard]] CopyPlan plan(const DeviceWorld& world) const {
    return {
        at(world, dest, pe), source, Bytes, elements, dest_stride * ptrdiff_t(Bytes), source_stride * ptrdiff_t(Bytes)};
  }
};

/// Copies strided elements from `source` at `pe`; all of dest is there when it returns.
template <size_t Bytes>
struct Iget {
  void* dest;
  const void* source;
  ptrdiff_t dest_stride, source_stride;
  size_t elements;
  int pe;

  static constexpr Kind kKind = Kind::copy;
  static constexpr bool kCompletes = true;
  using Result = void;

  template <class C>
  CAUSEWAY_HOST_DEVICE void check(C& check) const {
    check.remote_strided("source", source, source_stride, elements, Bytes, pe);
  }
  template <class Group>
  CAUSEWAY_DEVICE void run(const DeviceWorld& world, const char*, Group group) const {
    group.sync();
    copy_strided<Bytes>(group, Towards::self, dest, at(world, source, pe), dest_stride, source_stride, elements);
    group.sync();
  }
  [[nodiscard]] CopyPlan plan(const DeviceWorld& world) const {
    return {dest,     at(world, source, pe),          Bytes,
            elements, dest_stride * ptrdiff_t(Bytes), source_stride * ptrdiff_t(Bytes)};
  }
};

}  // namespace causeway
