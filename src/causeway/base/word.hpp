// The unsigned integers by their size, and values as such words: what hardware loads, stores and combines in one piece.
#pragma once
#include <causeway/base/host_device.hpp>

#include <cstddef>
#include <cstdint>

namespace causeway {

namespace detail {

template <size_t Bytes>
struct WordOfSize;
template <>
struct WordOfSize<1> {
  using type = uint8_t;
};
template <>
struct WordOfSize<2> {
  using type = uint16_t;
};
template <>
struct WordOfSize<4> {
  using type = uint32_t;
};
template <>
struct WordOfSize<8> {
  using type = uint64_t;
};

}  // namespace detail

/// The unsigned integer of so many bytes: 1, 2, 4 or 8.
template <size_t Bytes>
using WordOf = typename detail::WordOfSize<Bytes>::type;

/// The same bits as another type of the same size.
template <class To, class From>
CAUSEWAY_HOST_DEVICE To same_bits(From from) {
  static_assert(sizeof(To) == sizeof(From), "same_bits keeps the size");
  To to;
  __builtin_memcpy(static_cast<void*>(&to), static_cast<const void*>(&from), sizeof to);
  return to;
}

}  // namespace causeway
