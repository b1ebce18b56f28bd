// The types that operations are compiled for: integers by width, and by sign where it matters. So `long`, `long long` and int64_t
// are one piece of code.
#pragma once
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace causeway {

namespace detail {

template <size_t Bytes, bool Signed>
struct Integer;
template <>
struct Integer<1, false> {
  using type = uint8_t;
};
template <>
struct Integer<1, true> {
  using type = int8_t;
};
template <>
struct Integer<2, false> {
  using type = uint16_t;
};
template <>
struct Integer<2, true> {
  using type = int16_t;
};
template <>
struct Integer<4, false> {
  using type = uint32_t;
};
template <>
struct Integer<4, true> {
  using type = int32_t;
};
template <>
struct Integer<8, false> {
  using type = uint64_t;
};
template <>
struct Integer<8, true> {
  using type = int64_t;
};

template <class T, bool Signed, bool = std::is_integral<T>::value>
struct PlainType {
  using type = T;
};
template <class T, bool Signed>
struct PlainType<T, Signed, true> {
  using type = typename Integer<sizeof(T), Signed>::type;
};

}  // namespace detail

template <class T>
using ByWidth = typename detail::PlainType<T, false>::type;
template <class T>
using ByWidthAndSign = typename detail::PlainType<T, std::is_signed<T>::value>::type;

}  // namespace causeway
