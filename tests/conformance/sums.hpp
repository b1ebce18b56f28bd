// A model of sums over PEs: what to add up, and whether a result is the sum of its summands.
#pragma once
#include "harness.hpp"

#include <cmath>
#include <type_traits>

namespace conformance {

/// How far from the exact sum a result may be, for each unit of the summands' magnitude; 0: not at all.
template <class T>
double precision() {
  return 0;
}
template <>
inline double precision<float>() {
  return 1.0 / (1 << 22);
}
template <>
inline double precision<double>() {
  return 1.0 / (1ll << 50);
}
template <>
inline double precision<half>() {
  return 1.0 / (1 << 10);
}
template <>
inline double precision<__nv_bfloat16>() {
  return 1.0 / (1 << 7);
}

/// half and bfloat16 are combined in float and rounded once: what that may do to a result, of its own magnitude.
template <class T>
double rounding() {
  return 0;
}
template <>
inline double rounding<half>() {
  return 1.0 / (1 << 11);
}
template <>
inline double rounding<__nv_bfloat16>() {
  return 1.0 / (1 << 8);
}
/// How far a result may be from the exact one, given its operands' magnitude.
template <class T>
double bound_of(double exact, double magnitude) {
  if (rounding<T>() == 0) return precision<T>() * magnitude;
  return rounding<T>() * std::fabs(exact) + precision<float>() * magnitude;
}

inline double number(float x) { return double(x); }
inline double number(double x) { return x; }
inline double number(half x) { return double(__half2float(x)); }
inline double number(__nv_bfloat16 x) { return double(__bfloat162float(x)); }

/// Floating point: whole numbers, whose sums are exact, or fractions. Integers: all bits, sums wrap.
template <class T>
T draw_value(uint64_t word, bool whole) {
  if (precision<T>() == 0) return T(word);
  const float value = float(int(word % 15) - 7) + (whole ? 0.0f : float((word >> 8) % 1024) / 1024.0f);
  return T(value);
}

/// Is `got` the sum of these?
template <class T>
bool is_sum(const std::vector<T>& summands, T got, bool whole, char (&text)[96]) {
  if constexpr (std::is_integral<T>::value) {
    uint64_t sum = 0;
    for (T x : summands) sum += uint64_t(x);
    std::snprintf(text, sizeof text, "%lld, expected %lld", (long long)got, (long long)T(sum));
    return got == T(sum);
  } else {
    double sum = 0, magnitude = 0;
    for (T x : summands) sum += number(x), magnitude += std::fabs(number(x));
    std::snprintf(text, sizeof text, "%.9g, expected %.9g", number(got), sum);
    return std::fabs(number(got) - sum) <= (whole ? 0 : bound_of<T>(sum, magnitude));
  }
}

using Sources = std::vector<std::vector<char>>;  // by member: what was at the operation's source

}  // namespace conformance
