// The types that operations are compiled for: integers by width, and by sign where it matters. So `long`, `long long`
// and int64_t are one piece of code.
#pragma once
#include <causeway/base/word.hpp>

#include <type_traits>

namespace causeway {

namespace detail {

template <class T, bool = std::is_integral<T>::value>
struct PlainType {
  using by_width = T;
  using by_sign = T;
};
template <class T>
struct PlainType<T, true> {
  using by_width = WordOf<sizeof(T)>;
  using by_sign =
      typename std::conditional<std::is_signed<T>::value, typename std::make_signed<by_width>::type, by_width>::type;
};

}  // namespace detail

template <class T>
using ByWidth = typename detail::PlainType<T>::by_width;
template <class T>
using ByWidthAndSign = typename detail::PlainType<T>::by_sign;

}  // namespace causeway
