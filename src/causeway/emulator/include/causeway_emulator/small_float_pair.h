// Pairs of half or bfloat16 (half2, bfloat162): the operations of small_float.h on both members.
#pragma once
#include "small_float.h"

namespace causeway::emulator {

template <class Self, class Scalar>
struct SmallFloatPair {
  template <class Function, class... More>
  static Self each(Function function, const Self& a, const More&... more) {
    Self result;
    result.x = function(a.x, more.x...);
    result.y = function(a.y, more.y...);
    return result;
  }
  /// CUDA answers comparisons of pairs with 1.0 or 0.0 in each member.
  template <class Compare>
  static Self each_true(Compare compare, const Self& a, const Self& b) {
    return each([=](Scalar p, Scalar q) { return Scalar::rounded(compare(p, q) ? 1.0f : 0.0f); }, a, b);
  }
  template <class Compare>
  static bool both(Compare compare, const Self& a, const Self& b) {
    return compare(a.x, b.x) && compare(a.y, b.y);
  }

#define CAUSEWAY_PAIR_1(name, expression)                \
  friend Self name(const Self& a) {                      \
    return each([](Scalar p) { return expression; }, a); \
  }
#define CAUSEWAY_PAIR_2(name, expression)                             \
  friend Self name(const Self& a, const Self& b) {                    \
    return each([](Scalar p, Scalar q) { return expression; }, a, b); \
  }
#define CAUSEWAY_PAIR_3(name, expression)                                          \
  friend Self name(const Self& a, const Self& b, const Self& c) {                  \
    return each([](Scalar p, Scalar q, Scalar r) { return expression; }, a, b, c); \
  }
#define CAUSEWAY_PAIR_COMPARE(word)                                             \
  friend Self __h##word##2(const Self& a, const Self& b) {                      \
    return each_true([](Scalar p, Scalar q) { return __h##word(p, q); }, a, b); \
  }                                                                             \
  friend bool __hb##word##2(const Self& a, const Self& b) {                     \
    return both([](Scalar p, Scalar q) { return __h##word(p, q); }, a, b);      \
  }

  CAUSEWAY_PAIR_1(operator-, -p)
  CAUSEWAY_PAIR_2(operator+, p + q)
  CAUSEWAY_PAIR_2(operator-, p - q)
  CAUSEWAY_PAIR_2(operator*, p * q)
  CAUSEWAY_PAIR_2(operator/, p / q)
  friend Self& operator+=(Self& a, const Self& b) { return a = a + b; }
  friend Self& operator-=(Self& a, const Self& b) { return a = a - b; }
  friend Self& operator*=(Self& a, const Self& b) { return a = a * b; }
  friend Self& operator/=(Self& a, const Self& b) { return a = a / b; }
  friend bool operator==(const Self& a, const Self& b) { return a.x == b.x && a.y == b.y; }
  friend bool operator!=(const Self& a, const Self& b) { return a.x != b.x && a.y != b.y; }
  friend bool operator<(const Self& a, const Self& b) { return a.x < b.x && a.y < b.y; }
  friend bool operator<=(const Self& a, const Self& b) { return a.x <= b.x && a.y <= b.y; }
  friend bool operator>(const Self& a, const Self& b) { return a.x > b.x && a.y > b.y; }
  friend bool operator>=(const Self& a, const Self& b) { return a.x >= b.x && a.y >= b.y; }

  CAUSEWAY_PAIR_2(__hadd2, p + q)
  CAUSEWAY_PAIR_2(__hsub2, p - q)
  CAUSEWAY_PAIR_2(__hmul2, p * q)
  CAUSEWAY_PAIR_2(__h2div, p / q)
  CAUSEWAY_PAIR_2(__hadd2_rn, p + q)
  CAUSEWAY_PAIR_2(__hsub2_rn, p - q)
  CAUSEWAY_PAIR_2(__hmul2_rn, p * q)
  CAUSEWAY_PAIR_2(__hadd2_sat, __hadd_sat(p, q))
  CAUSEWAY_PAIR_2(__hsub2_sat, __hsub_sat(p, q))
  CAUSEWAY_PAIR_2(__hmul2_sat, __hmul_sat(p, q))
  CAUSEWAY_PAIR_3(__hfma2, __hfma(p, q, r))
  CAUSEWAY_PAIR_3(__hfma2_sat, __hfma_sat(p, q, r))
  CAUSEWAY_PAIR_3(__hfma2_relu, __hfma_relu(p, q, r))
  CAUSEWAY_PAIR_1(__hneg2, -p)
  CAUSEWAY_PAIR_1(__habs2, __habs(p))
  CAUSEWAY_PAIR_2(__hmax2, __hmax(p, q))
  CAUSEWAY_PAIR_2(__hmin2, __hmin(p, q))
  CAUSEWAY_PAIR_2(__hmax2_nan, __hmax_nan(p, q))
  CAUSEWAY_PAIR_2(__hmin2_nan, __hmin_nan(p, q))
  CAUSEWAY_PAIR_COMPARE(eq)
  CAUSEWAY_PAIR_COMPARE(ne)
  CAUSEWAY_PAIR_COMPARE(lt)
  CAUSEWAY_PAIR_COMPARE(le)
  CAUSEWAY_PAIR_COMPARE(gt)
  CAUSEWAY_PAIR_COMPARE(ge)
  friend Self __hisnan2(const Self& a) {
    return each([](Scalar p) { return Scalar::rounded(p.is_nan() ? 1.0f : 0.0f); }, a);
  }
  CAUSEWAY_PAIR_1(h2sqrt, hsqrt(p))
  CAUSEWAY_PAIR_1(h2rsqrt, hrsqrt(p))
  CAUSEWAY_PAIR_1(h2rcp, hrcp(p))
  CAUSEWAY_PAIR_1(h2exp, hexp(p))
  CAUSEWAY_PAIR_1(h2exp2, hexp2(p))
  CAUSEWAY_PAIR_1(h2log, hlog(p))
  CAUSEWAY_PAIR_1(h2log2, hlog2(p))
  CAUSEWAY_PAIR_1(h2sin, hsin(p))
  CAUSEWAY_PAIR_1(h2cos, hcos(p))
  CAUSEWAY_PAIR_1(h2floor, hfloor(p))
  CAUSEWAY_PAIR_1(h2ceil, hceil(p))
  CAUSEWAY_PAIR_1(h2trunc, htrunc(p))
  CAUSEWAY_PAIR_1(h2rint, hrint(p))
#undef CAUSEWAY_PAIR_1
#undef CAUSEWAY_PAIR_2
#undef CAUSEWAY_PAIR_3
#undef CAUSEWAY_PAIR_COMPARE

  friend float __low2float(const Self& a) { return a.x.widened(); }
  friend float __high2float(const Self& a) { return a.y.widened(); }
};

}  // namespace causeway::emulator
