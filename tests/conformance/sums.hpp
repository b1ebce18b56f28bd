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
    return std::fabs(number(got) - sum) <= (whole ? 0 : precision<T>() * magnitude);
  }
}

using Sources = std::vector<std::vector<char>>;  // by member: what was at the operation's source

template <class T>
void fill_values(char* to, uint64_t key, size_t elements, bool whole) {
  for (size_t i = 0; i < elements; ++i) {
    const T value = draw_value<T>(mix(key + i), whole);
    std::memcpy(to + i * sizeof(T), &value, sizeof value);
  }
}
template <class T>
void check_sums(Suite& suite, const Sources& sources, const char* got, size_t elements, bool whole) {
  std::vector<T> summands(sources.size());
  for (size_t i = 0; i < elements; ++i) {
    for (size_t member = 0; member < sources.size(); ++member)
      std::memcpy(&summands[member], sources[member].data() + i * sizeof(T), sizeof(T));
    T value;
    std::memcpy(&value, got + i * sizeof(T), sizeof value);
    char text[96];
    if (!is_sum<T>(summands, value, whole, text)) return suite.wrong("sum, element %zu of %zu: %s", i, elements, text);
  }
}

}  // namespace conformance
