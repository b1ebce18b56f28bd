// What half and bfloat16 have in common: operators and the functions that CUDA names alike for both. A result is
// computed in float and rounded once: float has more than twice the bits, so that is the correctly rounded result. The
// functions are found through their arguments (friends), so an argument that converts to the type is accepted.
#pragma once
#include "float_formats.h"
#include "vectors.h"

namespace causeway::emulator {

template <class Self, class FormatOfSelf>
struct SmallFloat {
  using Format = FormatOfSelf;
  uint16_t bits;

  static Self of_bits(uint16_t bits) {
    Self result;
    result.bits = bits;
    return result;
  }
  /// Rounds to nearest, ties to even, unless told otherwise.
  template <class T>
  static Self rounded(T value, Rounding rounding = Rounding::nearest) {
#if defined(__F16C__)  // the processor's own conversion
    if constexpr (std::is_same_v<T, float> && Format::mantissa == 10)
      if (rounding == Rounding::nearest && value == value)
        return of_bits(static_cast<uint16_t>(__builtin_ia32_vcvtps2ph(vector4{value, 0, 0, 0}, 0)[0]));
#endif
    return of_bits(Format::round(value, rounding));
  }
  float widened() const { return Format::widen(bits); }
  bool is_nan() const { return (bits & 0x7fff) > Format::infinity; }

  Self operator-() const { return of_bits(bits ^ 0x8000); }
  Self operator+() const { return of_bits(bits); }

  friend Self operator+(const Self& a, const Self& b) { return rounded(a.widened() + b.widened()); }
  friend Self operator-(const Self& a, const Self& b) { return rounded(a.widened() - b.widened()); }
  friend Self operator*(const Self& a, const Self& b) { return rounded(a.widened() * b.widened()); }
  friend Self operator/(const Self& a, const Self& b) { return rounded(a.widened() / b.widened()); }
  friend Self& operator+=(Self& a, const Self& b) { return a = a + b; }
  friend Self& operator-=(Self& a, const Self& b) { return a = a - b; }
  friend Self& operator*=(Self& a, const Self& b) { return a = a * b; }
  friend Self& operator/=(Self& a, const Self& b) { return a = a / b; }
  friend Self& operator++(Self& a) { return a = rounded(a.widened() + 1.0f); }
  friend Self& operator--(Self& a) { return a = rounded(a.widened() - 1.0f); }
  friend Self operator++(Self& a, int) {
    const Self before = a;
    ++a;
    return before;
  }
  friend Self operator--(Self& a, int) {
    const Self before = a;
    --a;
    return before;
  }
  friend bool operator==(const Self& a, const Self& b) { return a.widened() == b.widened(); }
  friend bool operator!=(const Self& a, const Self& b) { return a.widened() != b.widened(); }
  friend bool operator<(const Self& a, const Self& b) { return a.widened() < b.widened(); }
  friend bool operator<=(const Self& a, const Self& b) { return a.widened() <= b.widened(); }
  friend bool operator>(const Self& a, const Self& b) { return a.widened() > b.widened(); }
  friend bool operator>=(const Self& a, const Self& b) { return a.widened() >= b.widened(); }

  // ---- arithmetic; _rn promises that no fused operation is made of two, which never happens here
  friend Self __hadd(Self a, Self b) { return a + b; }
  friend Self __hsub(Self a, Self b) { return a - b; }
  friend Self __hmul(Self a, Self b) { return a * b; }
  friend Self __hdiv(Self a, Self b) { return a / b; }
  friend Self __hadd_rn(Self a, Self b) { return a + b; }
  friend Self __hsub_rn(Self a, Self b) { return a - b; }
  friend Self __hmul_rn(Self a, Self b) { return a * b; }
  friend Self __hfma(Self a, Self b, Self c) {
    return rounded(fused_for_rounding(a.widened(), b.widened(), c.widened()));
  }
  friend Self __hneg(Self a) { return -a; }
  friend Self __habs(Self a) { return of_bits(a.bits & 0x7fff); }
  /// Into [0, 1]; NaN becomes 0.
  static Self saturated(Self a) {
    const float value = a.widened();
    return value > 0 ? (value < 1 ? a : rounded(1.0f)) : of_bits(0);
  }
  friend Self __hadd_sat(Self a, Self b) { return saturated(a + b); }
  friend Self __hsub_sat(Self a, Self b) { return saturated(a - b); }
  friend Self __hmul_sat(Self a, Self b) { return saturated(a * b); }
  friend Self __hfma_sat(Self a, Self b, Self c) { return saturated(__hfma(a, b, c)); }
  friend Self __hfma_relu(Self a, Self b, Self c) {
    const Self value = __hfma(a, b, c);
    return value.is_nan() ? of_bits(Format::nan) : value.widened() < 0 ? of_bits(0) : value;
  }

  // ---- order; of +0 and -0, +0 is the larger
  static Self larger(Self a, Self b) {
    if (a.widened() == b.widened()) return a.bits & 0x8000 ? b : a;
    return a.widened() > b.widened() ? a : b;
  }
  friend Self __hmax(Self a, Self b) {
    if (a.is_nan() && b.is_nan()) return of_bits(Format::nan);
    return a.is_nan() ? b : b.is_nan() ? a : larger(a, b);
  }
  friend Self __hmin(Self a, Self b) {
    if (a.is_nan() && b.is_nan()) return of_bits(Format::nan);
    return a.is_nan() ? b : b.is_nan() ? a : -larger(-a, -b);
  }
  friend Self __hmax_nan(Self a, Self b) { return a.is_nan() || b.is_nan() ? of_bits(Format::nan) : larger(a, b); }
  friend Self __hmin_nan(Self a, Self b) { return a.is_nan() || b.is_nan() ? of_bits(Format::nan) : -larger(-a, -b); }
  friend bool __heq(Self a, Self b) { return a == b; }
  friend bool __hne(Self a, Self b) { return a != b && !a.is_nan() && !b.is_nan(); }
  friend bool __hlt(Self a, Self b) { return a < b; }
  friend bool __hle(Self a, Self b) { return a <= b; }
  friend bool __hgt(Self a, Self b) { return a > b; }
  friend bool __hge(Self a, Self b) { return a >= b; }
  // true also if a or b is NaN
  friend bool __hequ(Self a, Self b) { return a == b || a.is_nan() || b.is_nan(); }
  friend bool __hneu(Self a, Self b) { return a != b; }
  friend bool __hltu(Self a, Self b) { return !(a >= b); }
  friend bool __hleu(Self a, Self b) { return !(a > b); }
  friend bool __hgtu(Self a, Self b) { return !(a <= b); }
  friend bool __hgeu(Self a, Self b) { return !(a < b); }
  friend bool __hisnan(Self a) { return a.is_nan(); }
  friend int __hisinf(Self a) { return (a.bits & 0x7fff) != Format::infinity ? 0 : a.bits & 0x8000 ? -1 : 1; }

  // ---- functions, by way of double so that the result is rounded from far more bits than it has
  template <class Function>
  static Self through_double(Self a, Function function) {
    return rounded(function(static_cast<double>(a.widened())));
  }
  friend Self hsqrt(Self a) { return rounded(::sqrtf(a.widened())); }
  friend Self hrsqrt(Self a) {
    return through_double(a, [](double x) { return 1.0 / ::sqrt(x); });
  }
  friend Self hrcp(Self a) { return rounded(1.0f / a.widened()); }
  friend Self hexp(Self a) {
    return through_double(a, [](double x) { return ::exp(x); });
  }
  friend Self hexp2(Self a) {
    return through_double(a, [](double x) { return ::exp2(x); });
  }
  friend Self hexp10(Self a) {
    return through_double(a, [](double x) { return ::pow(10.0, x); });
  }
  friend Self hlog(Self a) {
    return through_double(a, [](double x) { return ::log(x); });
  }
  friend Self hlog2(Self a) {
    return through_double(a, [](double x) { return ::log2(x); });
  }
  friend Self hlog10(Self a) {
    return through_double(a, [](double x) { return ::log10(x); });
  }
  friend Self hsin(Self a) {
    return through_double(a, [](double x) { return ::sin(x); });
  }
  friend Self hcos(Self a) {
    return through_double(a, [](double x) { return ::cos(x); });
  }
  friend Self htanh(Self a) {
    return through_double(a, [](double x) { return ::tanh(x); });
  }
  friend Self hfloor(Self a) { return rounded(::floorf(a.widened())); }
  friend Self hceil(Self a) { return rounded(::ceilf(a.widened())); }
  friend Self htrunc(Self a) { return rounded(::truncf(a.widened())); }
  friend Self hrint(Self a) { return rounded(::rintf(a.widened())); }

 private:
  typedef float vector4 __attribute__((vector_size(16)));
};

}  // namespace causeway::emulator
