// The body of a 16-bit floating-point type: CAUSEWAY_SMALL_FLOAT_TYPE inside the struct's braces.
#pragma once
#include "small_float_names.h"

/// Conversions as in CUDA: from every arithmetic type, rounded once; to float without asking.
#define CAUSEWAY_SMALL_FLOAT_TYPE(Type, Raw)                              \
  Type() = default;                                                       \
  Type(const Raw& raw) { bits = raw.x; }                                  \
  Type(float value) { bits = rounded(value).bits; }                       \
  Type(double value) { bits = rounded(value).bits; }                      \
  template <class T, std::enable_if_t<std::is_integral_v<T>, int> = 0>    \
  Type(T value) {                                                         \
    bits = rounded(::causeway::emulator::whole_for_rounding(value)).bits; \
  }                                                                       \
  operator float() const { return widened(); }                            \
  operator Raw() const { return Raw{bits}; }                              \
  Type& operator=(float value) { return *this = Type(value); }            \
  Type& operator=(double value) { return *this = Type(value); }           \
  Type& operator=(const Raw& raw) { return *this = Type(raw); }

/// The body of a pair of them.
#define CAUSEWAY_SMALL_FLOAT_PAIR(Pair, Type, RawPair)                           \
  Type x, y;                                                                     \
  Pair() = default;                                                              \
  Pair(const Type& in_x, const Type& in_y) : x(in_x), y(in_y) {}                 \
  Pair(const RawPair& raw) : x(Type::of_bits(raw.x)), y(Type::of_bits(raw.y)) {} \
  operator RawPair() const { return RawPair{x.bits, y.bits}; }
