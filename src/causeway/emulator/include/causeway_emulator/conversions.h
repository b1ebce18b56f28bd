// Conversions between integers, float and double with an explicit rounding, and copies of bits between them.
#pragma once
#include "float_formats.h"

inline int __float_as_int(float x) { return ::causeway::same_bits<int>(x); }
inline unsigned __float_as_uint(float x) { return ::causeway::same_bits<unsigned>(x); }
inline float __int_as_float(int x) { return ::causeway::same_bits<float>(x); }
inline float __uint_as_float(unsigned x) { return ::causeway::same_bits<float>(x); }
inline long long __double_as_longlong(double x) { return ::causeway::same_bits<long long>(x); }
inline double __longlong_as_double(long long x) { return ::causeway::same_bits<double>(x); }
inline int __double2hiint(double x) { return static_cast<int>(__double_as_longlong(x) >> 32); }
inline int __double2loint(double x) { return static_cast<int>(__double_as_longlong(x)); }
inline double __hiloint2double(int high, int low) {
  return __longlong_as_double(static_cast<long long>(high) << 32 | static_cast<unsigned>(low));
}

#define CAUSEWAY_TO_INTEGER(Integer, name, mode, rounding)                                         \
  inline Integer __float2##name##_##mode(float x) {                                                \
    return ::causeway::emulator::to_integer<Integer, ::causeway::emulator::Rounding::rounding>(x); \
  }                                                                                                \
  inline Integer __double2##name##_##mode(double x) {                                              \
    return ::causeway::emulator::to_integer<Integer, ::causeway::emulator::Rounding::rounding>(x); \
  }
#define CAUSEWAY_FROM_INTEGER(Integer, name, Float, float_name, mode, rounding)                   \
  inline Float __##name##2##float_name##_##mode(Integer x) {                                      \
    return ::causeway::emulator::round_float<Float, ::causeway::emulator::Rounding::rounding>(x); \
  }
#define CAUSEWAY_CONVERSIONS(mode, rounding)                                     \
  CAUSEWAY_TO_INTEGER(int, int, mode, rounding)                                  \
  CAUSEWAY_TO_INTEGER(unsigned int, uint, mode, rounding)                        \
  CAUSEWAY_TO_INTEGER(long long, ll, mode, rounding)                             \
  CAUSEWAY_TO_INTEGER(unsigned long long, ull, mode, rounding)                   \
  CAUSEWAY_FROM_INTEGER(int, int, float, float, mode, rounding)                  \
  CAUSEWAY_FROM_INTEGER(unsigned int, uint, float, float, mode, rounding)        \
  CAUSEWAY_FROM_INTEGER(long long, ll, float, float, mode, rounding)             \
  CAUSEWAY_FROM_INTEGER(unsigned long long, ull, float, float, mode, rounding)   \
  CAUSEWAY_FROM_INTEGER(long long, ll, double, double, mode, rounding)           \
  CAUSEWAY_FROM_INTEGER(unsigned long long, ull, double, double, mode, rounding) \
  CAUSEWAY_FROM_INTEGER(double, double, float, float, mode, rounding)
CAUSEWAY_CONVERSIONS(rn, nearest)
CAUSEWAY_CONVERSIONS(rz, zero)
CAUSEWAY_CONVERSIONS(ru, up)
CAUSEWAY_CONVERSIONS(rd, down)
#undef CAUSEWAY_CONVERSIONS
#undef CAUSEWAY_FROM_INTEGER
#undef CAUSEWAY_TO_INTEGER
inline double __int2double_rn(int x) { return x; }
inline double __uint2double_rn(unsigned x) { return x; }
