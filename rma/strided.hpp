// Strided data movement: iput and iget (OpenSHMEM 1.5, sections 9.5.2 and 9.5.5), and what alltoalls is made of.
#pragma once
#include <causeway/heap/heap_view.hpp>
#include <causeway/machine/group.hpp>
#include <causeway/rma/copy.hpp>

#include <cstddef>
#include <cstdint>

namespace causeway {

/// The size of an element as an argument.
template <size_t Bytes>
struct Element {};

namespace detail {

#if !defined(CAUSEWAY_CPU) && !defined(CAUSEWAY_HOST_ONLY)
template <Towards Way, size_t Bytes>
CAUSEWAY_DEVICE void move_by_words(char* to, const char* from) {
  if ((reinterpret_cast<uint64_t>(to) | reinterpret_cast<uint64_t>(from)) % Bytes != 0) {
    copy_anything<Way>(Thread{}, to, from, Bytes);
  } else if constexpr (Bytes == 16) {
    copy_one<Way, Word16>(to, from);
  } else {
    copy_one<Way, typename machine::raw::Word<Bytes>::type>(to, from);
  }
}
#endif

/// One element, in one access where both places are multiples of its size.
template <size_t Bytes>
CAUSEWAY_DEVICE void move_element(Towards towards, char* to, const char* from) {
#if defined(CAUSEWAY_CPU)
  if (towards == Towards::peer) {
    machine::copy_to_peer(to, from, Bytes);
  } else {
    machine::copy_from_peer(to, from, Bytes);
  }
#elif !defined(CAUSEWAY_HOST_ONLY)
  if (towards == Towards::peer) {
    move_by_words<Towards::peer, Bytes>(to, from);
  } else {
    move_by_words<Towards::self, Bytes>(to, from);
  }
#endif
}

}  // namespace detail

/// Element i goes from `from` + i * `from_stride` to `to` + i * `to_stride`, strides in elements, of any sign. All threads
/// of the group call it with the same arguments. Does not sync the group.
template <size_t Bytes, class Group>
CAUSEWAY_DEVICE void copy_strided(Group group, Towards towards, Element<Bytes>, void* to, const void* from,
                                  ptrdiff_t to_stride, ptrdiff_t from_stride, size_t elements) {
  for (size_t i = group.rank(); i < elements; i += group.size()) {
    const ptrdiff_t k = static_cast<ptrdiff_t>(i);
    detail::move_element<Bytes>(towards, static_cast<char*>(to) + k * to_stride * ptrdiff_t(Bytes),
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
