// Arithmetic with an explicit rounding: __fadd_rn, __dmul_ru and so on.
#pragma once
#include <fenv.h>
#include <math.h>

namespace causeway::emulator {

/// Calls `function` while the processor rounds in `direction`. The function's operands must be volatile, else the
/// compiler may compute the result before or after.
template <class Function>
inline auto in_direction(int direction, Function function) {
  const int before = fegetround();
  fesetround(direction);
  const auto result = function();
  fesetround(before);
  return result;
}

}  // namespace causeway::emulator

#define CAUSEWAY_ROUNDED_2(Float, name, expression, mode, direction) \
  inline Float name##_##mode(Float in_a, Float in_b) {               \
    volatile Float a = in_a, b = in_b;                               \
    return ::causeway::emulator::in_direction(direction, [&] {       \
      volatile Float result = expression;                            \
      return Float(result);                                          \
    });                                                              \
  }
#define CAUSEWAY_ROUNDED_1(Float, name, expression, mode, direction) \
  inline Float name##_##mode(Float in_a) {                           \
    volatile Float a = in_a;                                         \
    return ::causeway::emulator::in_direction(direction, [&] {       \
      volatile Float result = expression;                            \
      return Float(result);                                          \
    });                                                              \
  }
#define CAUSEWAY_ROUNDED_3(Float, name, expression, mode, direction) \
  inline Float name##_##mode(Float in_a, Float in_b, Float in_c) {   \
    volatile Float a = in_a, b = in_b, c = in_c;                     \
    return ::causeway::emulator::in_direction(direction, [&] {       \
      volatile Float result = expression;                            \
      return Float(result);                                          \
    });                                                              \
  }
#define CAUSEWAY_ROUNDED(mode, direction)                             \
  CAUSEWAY_ROUNDED_2(float, __fadd, a + b, mode, direction)           \
  CAUSEWAY_ROUNDED_2(float, __fsub, a - b, mode, direction)           \
  CAUSEWAY_ROUNDED_2(float, __fmul, a * b, mode, direction)            \
  CAUSEWAY_ROUNDED_2(float, __fdiv, a / b, mode, direction)           \
  CAUSEWAY_ROUNDED_1(float, __frcp, 1.0f / a, mode, direction)        \
  CAUSEWAY_ROUNDED_1(float, __fsqrt, ::sqrtf(a), mode, direction)     \
  CAUSEWAY_ROUNDED_3(float, __fmaf, ::fmaf(a, b, c), mode, direction) \
  CAUSEWAY_ROUNDED_2(double, __dadd, a + b, mode, direction)          \
  CAUSEWAY_ROUNDED_2(double, __dsub, a - b, mode, direction)          \
  CAUSEWAY_ROUNDED_2(double, __dmul, a * b, mode, direction)           \
  CAUSEWAY_ROUNDED_2(double, __ddiv, a / b, mode, direction)          \
  CAUSEWAY_ROUNDED_1(double, __drcp, 1.0 / a, mode, direction)        \
  CAUSEWAY_ROUNDED_1(double, __dsqrt, ::sqrt(a), mode, direction)     \
  CAUSEWAY_ROUNDED_3(double, __fma, ::fma(a, b, c), mode, direction)
CAUSEWAY_ROUNDED(rz, FE_TOWARDZERO)
CAUSEWAY_ROUNDED(ru, FE_UPWARD)
CAUSEWAY_ROUNDED(rd, FE_DOWNWARD)
#undef CAUSEWAY_ROUNDED
#undef CAUSEWAY_ROUNDED_1
#undef CAUSEWAY_ROUNDED_2
#undef CAUSEWAY_ROUNDED_3

// To nearest is how the processor rounds anyway; the functions promise that no multiplication and addition fuse.
inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fsub_rn(float a, float b) { return a - b; }
inline float __fmul_rn(float a, float b) {
  float product = a * b;
  asm("" : "+g"(product));
  return product;
}
inline float __fdiv_rn(float a, float b) { return a / b; }
inline float __frcp_rn(float a) { return 1.0f / a; }
inline float __fsqrt_rn(float a) { return ::sqrtf(a); }
inline float __frsqrt_rn(float a) { return static_cast<float>(1.0 / ::sqrt(static_cast<double>(a))); }
inline float __fmaf_rn(float a, float b, float c) { return ::fmaf(a, b, c); }
inline double __dadd_rn(double a, double b) { return a + b; }
inline double __dsub_rn(double a, double b) { return a - b; }
inline double __dmul_rn(double a, double b) {
  double product = a * b;
  asm("" : "+g"(product));
  return product;
}
inline double __ddiv_rn(double a, double b) { return a / b; }
inline double __drcp_rn(double a) { return 1.0 / a; }
inline double __dsqrt_rn(double a) { return ::sqrt(a); }
inline double __fma_rn(double a, double b, double c) { return ::fma(a, b, c); }
