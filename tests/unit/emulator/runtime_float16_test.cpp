// half and bfloat16 against a plain model: the list of all values of the format, and "the nearest one, ties to even".
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

namespace {

/// Value of a 16-bit pattern by the definition of the format.
template <int mantissa>
double value_of(uint16_t bits) {
  constexpr int exponent_bits = 15 - mantissa, bias = (1 << (exponent_bits - 1)) - 1;
  const int field = bits >> mantissa & ((1 << exponent_bits) - 1), fraction = bits & ((1 << mantissa) - 1);
  double magnitude;
  if (field == (1 << exponent_bits) - 1) {
    magnitude = fraction ? NAN : INFINITY;
  } else if (field == 0) {
    magnitude = std::ldexp(fraction, 1 - bias - mantissa);
  } else {
    magnitude = std::ldexp(fraction + (1 << mantissa), field - bias - mantissa);
  }
  return bits & 0x8000 ? -magnitude : magnitude;
}

/// The nearest pattern, found among all finite ones; the value after the largest counts as infinity.
template <int mantissa>
uint16_t nearest(long double value) {
  constexpr uint16_t infinity = uint16_t(((1 << (15 - mantissa)) - 1) << mantissa);
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const long double magnitude = std::fabs(value);
  if (std::isinf(value)) return sign | infinity;
  uint16_t low = 0, high = infinity;  // value_of(low) <= magnitude
  const long double step_past_end = 2 * value_of<mantissa>(infinity - 1) - value_of<mantissa>(infinity - 2);
  const auto at = [&](uint16_t bits) {
    return bits == infinity ? step_past_end : static_cast<long double>(value_of<mantissa>(bits));
  };
  if (magnitude >= step_past_end) return sign | infinity;
  while (high - low > 1) {
    const uint16_t middle = uint16_t((low + high) / 2);
    (at(middle) <= magnitude ? low : high) = middle;
  }
  const long double below = magnitude - at(low), above = at(high) - magnitude;
  if (below != above) return sign | (below < above ? low : high);
  return sign | (low & 1 ? high : low);
}

template <class T>
struct Of;
template <>
struct Of<__half> {
  static constexpr int mantissa = 10;
  static constexpr uint16_t infinity = 0x7c00;
};
template <>
struct Of<__nv_bfloat16> {
  static constexpr int mantissa = 7;
  static constexpr uint16_t infinity = 0x7f80;
};

template <class T>
T of_bits(unsigned bits) {
  T value;
  const auto narrow = uint16_t(bits);
  std::memcpy(static_cast<void*>(&value), &narrow, 2);
  return value;
}
template <class T>
uint16_t bits_of(T value) {
  uint16_t bits;
  std::memcpy(&bits, &value, 2);
  return bits;
}

template <class T>
class Float16 : public testing::Test {
 protected:
  static constexpr int mantissa = Of<T>::mantissa;
  std::mt19937_64 random{20240607};

  T any() { return of_bits<T>(unsigned(random())); }
  T any_finite() {
    for (;;)
      if (const T value = any(); std::isfinite(float(value))) return value;
  }
  /// A float of any exponent, often near a tie of the format.
  float any_float() {
    if (random() % 2) {
      const auto bits = uint32_t(random());
      float value;
      std::memcpy(&value, &bits, 4);
      return value;
    }
    const unsigned pattern = unsigned(random() % Of<T>::infinity);
    const double low = value_of<mantissa>(uint16_t(pattern)), high = value_of<mantissa>(uint16_t(pattern + 1));
    const double tie = std::isinf(high) ? low : (low + high) / 2;
    const int nudge = int(random() % 3) - 1;
    const float value = std::nextafter(float(tie), float(tie) + float(nudge));
    return random() % 2 ? -value : value;
  }
  static void expect_same(T got, long double want) {
    if (std::isnan(want)) {
      EXPECT_TRUE(std::isnan(float(got)));
    } else {
      EXPECT_EQ(bits_of(got), nearest<mantissa>(want)) << double(want);
    }
  }
};

using Types = testing::Types<__half, __nv_bfloat16>;
TYPED_TEST_SUITE(Float16, Types);

TYPED_TEST(Float16, EveryValueWidensExactlyAndComesBack) {
  for (unsigned bits = 0; bits < 65536; ++bits) {
    const float wide = of_bits<TypeParam>(bits);
    const double want = value_of<TestFixture::mantissa>(uint16_t(bits));
    if (std::isnan(want)) {
      EXPECT_TRUE(std::isnan(wide)) << bits;
      EXPECT_TRUE(std::isnan(float(TypeParam(wide)))) << bits;
      continue;
    }
    ASSERT_EQ(double(wide), want) << bits;
    ASSERT_EQ(std::signbit(wide), std::signbit(want)) << bits;
    ASSERT_EQ(bits_of(TypeParam(wide)), bits) << bits;
    ASSERT_EQ(bits_of(TypeParam(double(wide))), bits) << bits;
  }
}

TYPED_TEST(Float16, FloatsAndDoublesRoundToNearestEven) {
  for (int i = 0; i < 200000; ++i) {
    const float value = this->any_float();
    this->expect_same(TypeParam(value), value);
    const double near_float = std::nextafter(double(value), this->random() % 2 ? 1e300 : -1e300);
    this->expect_same(TypeParam(near_float), near_float);
  }
  this->expect_same(TypeParam(1e300), 1e300L);
  this->expect_same(TypeParam(1e-300), 1e-300L);
}

TYPED_TEST(Float16, ArithmeticIsCorrectlyRounded) {
  for (int i = 0; i < 100000; ++i) {
    const TypeParam a = this->any_finite(), b = this->any_finite();
    const long double x = float(a), y = float(b);
    this->expect_same(a * b, x * y);
    if (y != 0) this->expect_same(a / b, static_cast<long double>(float(a) / double(float(b))));
    // A long double's 64 bits hold sums of halves exactly; of bfloat16 only those of similar size.
    if (TestFixture::mantissa == 10 || std::fabs(std::log2(std::fabs(x / y))) < 40) {
      if (x + y != 0) this->expect_same(a + b, x + y);
      if (x - y != 0) this->expect_same(a - b, x - y);
    }
    if (x >= 0) this->expect_same(hsqrt(a), std::sqrt(double(x)));
  }
}

TYPED_TEST(Float16, FusedMultiplyAddRoundsOnce) {
  for (int i = 0; i < 200000; ++i) {
    const TypeParam a = this->any_finite(), b = this->any_finite();
    // An addend near the product, or far below it: where rounding twice goes wrong.
    const int exponent = std::ilogb(float(a) * double(float(b)) + 1e-300) - int(this->random() % 30) + 5;
    const TypeParam c(std::ldexp(float(1 + this->random() % 255), exponent - 8));
    const long double product = static_cast<long double>(float(a)) * float(b), addend = float(c);
    if (product == 0 || addend == 0 || std::fabs(std::log2(std::fabs(product / addend))) > 40) continue;
    if (product + addend == 0) continue;
    this->expect_same(__hfma(a, b, c), product + addend);
  }
}

TYPED_TEST(Float16, FusedMultiplyAddSeesTheSmallestAddend) {
  // This product ends half a unit past the last bit: a tie, which the sign of a tiny addend decides.
  constexpr int first = (TestFixture::mantissa + 1) / 2, second = TestFixture::mantissa + 1 - first;
  const TypeParam a(1.0f + std::ldexp(1.0f, -first)), b(1.0f + std::ldexp(1.0f, -second));
  const TypeParam up = __hfma(a, b, of_bits<TypeParam>(1)), down = __hfma(a, b, of_bits<TypeParam>(0x8001));
  EXPECT_GT(float(up), float(a) * float(b));
  EXPECT_LT(float(down), float(a) * float(b));
  EXPECT_EQ(bits_of(up), bits_of(down) + 1);
}

TYPED_TEST(Float16, IntegersRoundOnce) {
  for (int i = 0; i < 100000; ++i) {
    const auto value = static_cast<long long>(this->random() >> (this->random() % 64));
    this->expect_same(TypeParam(value), static_cast<long double>(value));
    this->expect_same(TypeParam(-value), static_cast<long double>(-value));
    const auto positive = static_cast<unsigned long long>(value);
    this->expect_same(TypeParam(positive), static_cast<long double>(positive));
  }
}

TYPED_TEST(Float16, ComparisonsKnowNan) {
  const TypeParam nan = of_bits<TypeParam>(0x7fff), one(1.0f);
  EXPECT_FALSE(nan == nan);
  EXPECT_TRUE(nan != nan);
  EXPECT_FALSE(nan < one);
  EXPECT_FALSE(__hne(nan, one));
  EXPECT_TRUE(__hneu(nan, one));
  EXPECT_TRUE(__hltu(nan, one));
  EXPECT_EQ(float(__hmax(nan, one)), 1.0f);
  EXPECT_EQ(float(__hmin(one, nan)), 1.0f);
  EXPECT_TRUE(__hisnan(__hmax_nan(nan, one)));
  const TypeParam zero(0.0f), minus_zero(-0.0f);
  EXPECT_EQ(bits_of(__hmax(minus_zero, zero)), 0);
  EXPECT_EQ(bits_of(__hmin(zero, minus_zero)), 0x8000);
  for (int i = 0; i < 10000; ++i) {
    const TypeParam a = this->any(), b = this->any();
    EXPECT_EQ(a < b, float(a) < float(b));
    EXPECT_EQ(__hge(a, b), float(a) >= float(b));
    EXPECT_EQ(__hgtu(a, b), !(float(a) <= float(b)));
  }
}

TEST(Half, DirectedRoundings) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 100000; ++i) {
    const auto pattern = uint32_t(random());
    float value;
    std::memcpy(&value, &pattern, 4);
    if (!std::isfinite(value)) continue;
    const float up = __float2half_ru(value), down = __float2half_rd(value), zero = __float2half_rz(value);
    EXPECT_GE(up, value);
    EXPECT_LE(down, value);
    EXPECT_EQ(zero, value > 0 ? down : up);
    // At most one step apart; infinity is one step from the largest.
    EXPECT_LE(std::abs(bits_of(__float2half_ru(value)) - bits_of(__float2half_rd(value))) & 0x7fff, 1) << value;
    const float nearest_value = __float2half_rn(value);
    EXPECT_TRUE(nearest_value == up || nearest_value == down) << value;
  }
}

TEST(Half, ToIntegersSaturates) {
  EXPECT_EQ(__half2int_rn(__half(2.5f)), 2);
  EXPECT_EQ(__half2int_ru(__half(2.5f)), 3);
  EXPECT_EQ(__half2int_rd(__half(-2.5f)), -3);
  EXPECT_EQ(__half2int_rz(__half(-2.5f)), -2);
  EXPECT_EQ(__half2short_rz(__half(INFINITY)), 32767);
  EXPECT_EQ(__half2uint_rn(__half(-3.0f)), 0u);
  EXPECT_EQ(__half2ushort_rn(__half(65504.0f)), 65504);
  EXPECT_EQ(__half2int_rn(__half(NAN)), 0);
  EXPECT_EQ(__bfloat162ll_rz(__nv_bfloat16(1e30f)), INT64_MAX);
}

TEST(Half, PairsWorkMemberByMember) {
  const __half2 a = __floats2half2_rn(1.0f, -2.0f), b = __half2half2(__half(3.0f));
  const float2 sum = __half22float2(a + b), fused = __half22float2(__hfma2(a, b, b));
  EXPECT_EQ(sum.x, 4.0f);
  EXPECT_EQ(sum.y, 1.0f);
  EXPECT_EQ(fused.x, 6.0f);
  EXPECT_EQ(fused.y, -3.0f);
  EXPECT_EQ(__low2float(__hlt2(b, a)), 0.0f);
  EXPECT_EQ(__high2float(__hgt2(b, a)), 1.0f);
  EXPECT_TRUE(__hbgt2(b, a));
  EXPECT_EQ(float(__high2half(__lowhigh2highlow(a))), 1.0f);
  const __nv_bfloat162 c = __float22bfloat162_rn(make_float2(1.5f, 2.5f));
  EXPECT_EQ(__bfloat1622float2(__hmax2(c, __nv_bfloat162(2.0f, 2.0f))).x, 2.0f);
}

#if defined(__FLT16_MANT_DIG__) && !defined(__clang__)
TEST(Half, AgreesWithTheCompilersOwnType) {
  for (uint64_t pattern = 0; pattern < (uint64_t{1} << 32); pattern += 4099) {
    const auto bits = uint32_t(pattern);
    float value;
    std::memcpy(&value, &bits, 4);
    if (std::isnan(value)) continue;
    const auto want = static_cast<_Float16>(value);
    uint16_t want_bits;
    std::memcpy(&want_bits, &want, 2);
    ASSERT_EQ(bits_of(__half(value)), want_bits) << value;
  }
}
#endif

}  // namespace
