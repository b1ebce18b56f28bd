// Integer, conversion and mathematical intrinsics against their definitions.
#include <cfenv>
#include <cmath>
#include <cstdint>
#include <random>

#include "runtime_harness.hpp"

namespace {

std::mt19937_64 seeded() { return std::mt19937_64(99); }

TEST(Integers, Bits) {
  auto random = seeded();
  for (int i = 0; i < 20000; ++i) {
    const auto x = unsigned(random() >> (random() % 32)), y = unsigned(random());
    const unsigned long long wide = random() >> (random() % 64);
    int ones = 0, first = 0, leading = 32;
    unsigned reversed = 0;
    for (int bit = 31; bit >= 0; --bit) {
      if (!(x >> bit & 1)) continue;
      ++ones;
      first = bit + 1;
      if (leading == 32) leading = 31 - bit;
      reversed |= 1u << (31 - bit);
    }
    EXPECT_EQ(__popc(x), ones);
    EXPECT_EQ(__ffs(int(x)), first);
    EXPECT_EQ(__clz(int(x)), leading);
    EXPECT_EQ(__brev(x), reversed);
    EXPECT_EQ(__brevll(wide) >> 32, __brev(unsigned(wide)));
    const unsigned shift = unsigned(random() % 40);
    const unsigned __int128 both = static_cast<unsigned __int128>(y) << 32 | x;
    EXPECT_EQ(__funnelshift_l(x, y, shift), unsigned((both << (shift & 31)) >> 32));
    EXPECT_EQ(__funnelshift_r(x, y, shift), unsigned(both >> (shift & 31)));
    EXPECT_EQ(__funnelshift_lc(x, y, shift), unsigned((both << std::min(shift, 32u)) >> 32));
    EXPECT_EQ(__funnelshift_rc(x, y, shift), unsigned(both >> std::min(shift, 32u)));
    EXPECT_EQ(__umulhi(x, y), unsigned((static_cast<unsigned long long>(x) * y) >> 32));
  }
  EXPECT_EQ(__clzll(0), 64);
  EXPECT_EQ(__ffsll(1ll << 40), 41);
  EXPECT_EQ(__byte_perm(0x33221100, 0x77665544, 0x7410), 0x77441100u);
  EXPECT_EQ(__byte_perm(0x00800000, 0, 0x000a), 0x000000ffu);
  EXPECT_EQ(__fns(0b10110, 0, 2), 2u);
  EXPECT_EQ(__fns(0b10110, 4, -3), 1u);
  EXPECT_EQ(__fns(0b10110, 0, 4), 0xffffffffu);
  EXPECT_EQ(__mul24(-3, 5), -15);
  EXPECT_EQ(__umul24(0xff000002u, 3), 6u);
  EXPECT_EQ(__dp4a(0x01ff02fe, 0x01010101, 10), 10 + 1 - 1 + 2 - 2);
  EXPECT_EQ(__dp4a(0x01ff02feu, 0x01010101u, 10u), 10u + 1 + 255 + 2 + 254);
  EXPECT_EQ(__hadd(-3, 2), -1);
  EXPECT_EQ(__rhadd(INT_MAX, INT_MAX), INT_MAX);
  EXPECT_EQ(__sad(-5, 7, 1), 13u);
  EXPECT_EQ(__mul64hi(-1, 2), -1);
}

TEST(Conversions, ToIntegersRoundAndSaturate) {
  EXPECT_EQ(__float2int_rn(2.5f), 2);
  EXPECT_EQ(__float2int_rn(3.5f), 4);
  EXPECT_EQ(__float2int_ru(2.1f), 3);
  EXPECT_EQ(__float2int_rd(-2.1f), -3);
  EXPECT_EQ(__float2int_rz(-2.9f), -2);
  EXPECT_EQ(__float2int_rn(1e20f), INT_MAX);
  EXPECT_EQ(__float2uint_rn(-1.0f), 0u);
  EXPECT_EQ(__double2ll_rz(-1e300), LLONG_MIN);
  EXPECT_EQ(__double2ull_rn(1e300), ULLONG_MAX);
  EXPECT_EQ(__double2uint_rn(4294967295.0), UINT_MAX);
  EXPECT_EQ(__float2int_rn(NAN), 0);
  EXPECT_EQ(__float_as_int(1.0f), 0x3f800000);
  EXPECT_EQ(__hiloint2double(__double2hiint(-3.25), __double2loint(-3.25)), -3.25);
}

TEST(Conversions, FromIntegersInEveryDirection) {
  auto random = seeded();
  for (int i = 0; i < 50000; ++i) {
    const auto value = static_cast<long long>(random() >> (random() % 64));
    const long double exact = value;
    EXPECT_LE(__ll2float_rd(value), exact);
    EXPECT_GE(__ll2float_ru(value), exact);
    EXPECT_GE(std::nextafter(__ll2float_rd(value), INFINITY),
              exact == __ll2float_rd(value) ? exact : __ll2float_ru(value));
    EXPECT_EQ(__ll2float_rz(value), value >= 0 ? __ll2float_rd(value) : __ll2float_ru(value));
    EXPECT_EQ(__ll2double_rn(value), double(value));
    EXPECT_LE(__ull2double_rd(static_cast<unsigned long long>(value)),
              static_cast<long double>(static_cast<unsigned long long>(value)));
    double real;
    const uint64_t bits = random();
    memcpy(&real, &bits, 8);
    if (!std::isfinite(real)) continue;
    EXPECT_LE(__double2float_rd(real), real);
    EXPECT_GE(__double2float_ru(real), real);
  }
}

TEST(RoundedArithmetic, BracketsTheExactResult) {
  auto random = seeded();
  std::uniform_real_distribution<float> some(-100, 100);
  for (int i = 0; i < 20000; ++i) {
    const float a = some(random), b = some(random);
    const double product = double(a) * b;
    EXPECT_LE(__fmul_rd(a, b), product);
    EXPECT_GE(__fmul_ru(a, b), product);
    EXPECT_EQ(__fmul_rz(a, b), product > 0 ? __fmul_rd(a, b) : __fmul_ru(a, b));
    EXPECT_LE(__fadd_rd(a, b), double(a) + b);
    EXPECT_GE(__fadd_ru(a, b), double(a) + b);
    EXPECT_LE(std::fabs(__fdiv_rz(a, b)), std::fabs(double(a) / b));
    const double root = std::sqrt(double(std::fabs(a)));
    EXPECT_LE(__fsqrt_rd(std::fabs(a)), root);
    EXPECT_GE(__fsqrt_ru(std::fabs(a)), root);
  }
  EXPECT_EQ(std::fegetround(), FE_TONEAREST);
  EXPECT_NE(__fadd_ru(1.0f, 1e-20f), __fadd_rd(1.0f, 1e-20f));
}

TEST(Math, MixedMinimumAndMaximum) {
  EXPECT_EQ(min(3, 5u), 3u);
  EXPECT_EQ(max(-1, 5u), UINT_MAX);  // as in CUDA, the signed one converts
  EXPECT_EQ(min(2.0f, NAN), 2.0f);
  EXPECT_EQ(max(1.5f, 2.5), 2.5);
  static_assert(std::is_same_v<decltype(min(1l, 2l)), long>);
  static_assert(std::is_same_v<decltype(min(short(1), short(2))), int>);
  using namespace std;
  EXPECT_EQ(min(4, 3), 3);
}

TEST(Math, FunctionsTheLibraryLacks) {
  EXPECT_FLOAT_EQ(rsqrtf(4.0f), 0.5f);
  EXPECT_EQ(sinpi(1e6), 0.0);
  EXPECT_EQ(cospi(0.5), 0.0);
  EXPECT_EQ(cospi(1.0), -1.0);
  EXPECT_DOUBLE_EQ(sinpi(0.25), M_SQRT1_2);
  EXPECT_DOUBLE_EQ(normcdf(0.0), 0.5);
  EXPECT_FLOAT_EQ(norm3df(2e30f, 3e30f, 6e30f), 7e30f);
  EXPECT_EQ(__saturatef(NAN), 0.0f);
  EXPECT_EQ(__saturatef(1.5f), 1.0f);
  EXPECT_EQ(__saturatef(0.25f), 0.25f);
}

}  // namespace
