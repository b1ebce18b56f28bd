// Rounding between number formats: double and float to 16-bit formats, floating point to integers. Integer arithmetic
// on the bits, the same on every compiler and processor.
#pragma once
#include <causeway/base/word.hpp>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include <limits>
#include <type_traits>

#include "specifiers.h"

namespace causeway::emulator {

enum class Rounding { nearest, zero, up, down };

/// The IEEE binary formats that values come from.
template <class T>
struct SourceFormat;
template <>
struct SourceFormat<float> {
  using Bits = uint32_t;
  static constexpr int mantissa = 23, bias = 127, exponent_max = 255;
};
template <>
struct SourceFormat<double> {
  using Bits = uint64_t;
  static constexpr int mantissa = 52, bias = 1023, exponent_max = 2047;
};

/// A 16-bit format: sign, exponent, `mantissa` bits of fraction.
template <int mantissa_bits>
struct Format16 {
  static constexpr int mantissa = mantissa_bits, exponent = 15 - mantissa_bits;
  static constexpr int bias = (1 << (exponent - 1)) - 1, exponent_max = (1 << exponent) - 1;
  static constexpr uint16_t infinity = exponent_max << mantissa, nan = 0x7fff;

  /// `value` rounded once; subnormals, overflow to infinity and NaN as IEEE 754 has them.
  template <class T>
  static uint16_t round(T value, Rounding rounding = Rounding::nearest) {
    using Source = SourceFormat<T>;
    using Bits = typename Source::Bits;
    const Bits bits = same_bits<Bits>(value);
    const bool negative = bits >> (8 * sizeof(Bits) - 1);
    const uint16_t sign = negative ? 0x8000 : 0;
    const int field = static_cast<int>(bits >> Source::mantissa) & Source::exponent_max;
    Bits fraction = bits & ((Bits{1} << Source::mantissa) - 1);
    if (field == Source::exponent_max) return fraction ? nan : static_cast<uint16_t>(sign | infinity);
    if (field) fraction |= Bits{1} << Source::mantissa;
    const bool away = (rounding == Rounding::up && !negative) || (rounding == Rounding::down && negative);

    int target = (field ? field : 1) - Source::bias + bias;
    if (target >= exponent_max) {
      const bool to_infinity = rounding == Rounding::nearest || away;
      return static_cast<uint16_t>(sign | (to_infinity ? infinity : infinity - 1));
    }
    int shift = Source::mantissa - mantissa;
    if (target < 1) {  // a subnormal result keeps fewer bits
      shift += 1 - target;
      target = 1;
    }
    // Beyond the width, all of the fraction is less than half a unit; shifting by width - 1 says the same.
    if (shift > int(8 * sizeof(Bits)) - 1) shift = 8 * sizeof(Bits) - 1;
    Bits kept = fraction >> shift;
    const Bits rest = fraction - (kept << shift), half = Bits{1} << (shift - 1);
    if (rounding == Rounding::nearest ? rest > half || (rest == half && (kept & 1)) : away && rest != 0) ++kept;
    // The hidden bit counts as one exponent step; a carry out of the fraction is the next exponent, up to infinity.
    return static_cast<uint16_t>(sign | static_cast<uint16_t>(((target - 1) << mantissa) + static_cast<int>(kept)));
  }

  /// Exact: every value of the format is a float.
  static float widen(uint16_t bits) {
    const uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16;
    if constexpr (mantissa == 7) return same_bits<float>(static_cast<uint32_t>(bits) << 16);
    const uint32_t field = bits >> mantissa & exponent_max, fraction = bits & ((1u << mantissa) - 1);
    const uint32_t wide = fraction << (23 - mantissa);
    if (field == exponent_max) return same_bits<float>(sign | 0x7f800000u | wide);
    if (field) return same_bits<float>(sign | (field + 127 - bias) << 23 | wide);
    const float magnitude = static_cast<float>(fraction) * same_bits<float>(uint32_t(1 - bias - mantissa + 127) << 23);
    return sign ? -magnitude : magnitude;
  }
};
using HalfFormat = Format16<10>;
using Bfloat16Format = Format16<7>;

/// a * b + c with a double's last bit sticky ("round to odd"), so that a later rounding to 16 bits is as if it were the
/// only one. a, b and c are 16-bit values: the product is exact in double.
inline double fused_for_rounding(float a, float b, float c) {
  const double product = static_cast<double>(a) * b, addend = c;
  const double sum = product + addend;
  if (!std::numeric_limits<double>::has_infinity || !(sum - sum == 0)) return sum;  // infinite or NaN
  // Knuth's two-sum: what the sum lost.
  const double back = sum - product;
  const double lost = (product - (sum - back)) + (addend - back);
  uint64_t bits = same_bits<uint64_t>(sum);
  if (lost == 0 || (bits & 1)) return sum;
  bits += (lost > 0) == (sum > 0) ? 1 : static_cast<uint64_t>(-1);
  return same_bits<double>(bits);
}

template <Rounding rounding>
inline double round_to_whole(double value) {
  if (rounding == Rounding::nearest) return ::rint(value);
  if (rounding == Rounding::zero) return ::trunc(value);
  return rounding == Rounding::up ? ::ceil(value) : ::floor(value);
}
/// CUDA's conversion to an integer: out of range gives the nearest end; NaN gives 0, as 64 bits the lone top bit.
template <class Integer, Rounding rounding>
inline Integer to_integer(double value) {
  using Limits = std::numeric_limits<Integer>;
  if (value != value) return sizeof(Integer) == 8 ? static_cast<Integer>(1ull << 63) : Integer{0};
  const double whole = round_to_whole<rounding>(value);
  if (whole >= static_cast<double>(Limits::max())) return Limits::max();
  if (whole <= static_cast<double>(Limits::min())) return Limits::min();
  return static_cast<Integer>(whole);
}

/// `exact` rounded to float or double. A long double holds every double and every 64-bit integer.
template <class Float, Rounding rounding>
inline Float round_float(long double exact) {
  const Float nearest = static_cast<Float>(exact);
  const long double error = static_cast<long double>(nearest) - exact;
  const Float top = std::numeric_limits<Float>::infinity();
  const bool lower = rounding == Rounding::down || (rounding == Rounding::zero && exact > 0);
  const bool higher = rounding == Rounding::up || (rounding == Rounding::zero && exact < 0);
  if (lower && error > 0) return std::nextafter(nearest, -top);
  if (higher && error < 0) return std::nextafter(nearest, top);
  return nearest;
}
/// An integer as the double from which rounding to 16 bits gives the right result: bits that do not fit become sticky.
template <class Integer>
inline double whole_for_rounding(Integer value) {
  const bool negative = value < 0;
  unsigned long long magnitude = static_cast<unsigned long long>(value);
  if (negative) magnitude = 0 - magnitude;
  double result;
  if (magnitude >> 53) {
    result = static_cast<double>(magnitude >> 12 | ((magnitude & 0xfff) != 0)) * 4096.0;
  } else {
    result = static_cast<double>(magnitude);
  }
  return negative ? -result : result;
}

}  // namespace causeway::emulator
