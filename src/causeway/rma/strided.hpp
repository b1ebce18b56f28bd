// Strided data movement: iput and iget (OpenSHMEM 1.5, sections 9.5.2 and 9.5.5), and what alltoalls is made of.
#pragma once
#include <causeway/view/heap_view.hpp>
#include <causeway/machine/group.hpp>

#include <cstddef>
#include <cstdint>

namespace causeway {

/// The size of an element as an argument.
template <size_t Bytes>
struct Element {};

/// Element i goes from `from` + i * `from_stride` to `to` + i * `to_stride`, strides in elements, of any sign. All threads
/// of the group call it with the same arguments. Does not sync the group.
template <size_t Bytes, class Group>
CAUSEWAY_DEVICE void copy_strided(Group group, Towards towards, Element<Bytes>, void* to, const void* from,
                                  ptrdiff_t to_stride, ptrdiff_t from_stride, size_t elements) {
  for (size_t i = group.rank(); i < elements; i += group.size()) {
    const ptrdiff_t k = static_cast<ptrdiff_t>(i);
    machine::copy_element<Bytes>(towards, static_cast<char*>(to) + k * to_stride * ptrdiff_t(Bytes),
                                static_cast<const char*>(from) + k * from_stride * ptrdiff_t(Bytes));
  }
}

/// Copies strided elements to `dest` at `pe`; all threads of the group call it, and it is synchronised first and last as in put.
template <size_t Bytes, class Group>
CAUSEWAY_DEVICE void iput(const DeviceWorld& world, Group group, Element<Bytes> element, void* dest, const void* source,
                          ptrdiff_t dest_stride, ptrdiff_t source_stride, size_t elements, int pe) {
  group.sync();
  copy_strided(group, Towards::peer, element, at(world, static_cast<char*>(dest), pe), source, dest_stride,
               source_stride, elements);
  group.sync();
}

/// Copies strided elements from `source` at `pe`; all of dest is there when it returns.
template <size_t Bytes, class Group>
CAUSEWAY_DEVICE void iget(const DeviceWorld& world, Group group, Element<Bytes> element, void* dest, const void* source,
                          ptrdiff_t dest_stride, ptrdiff_t source_stride, size_t elements, int pe) {
  group.sync();
  copy_strided(group, Towards::self, element, dest, at(world, static_cast<const char*>(source), pe), dest_stride,
               source_stride, elements);
  group.sync();
}

}  // namespace causeway
