// The functions whose names carry the type: __float2half_rn, __int2bfloat16_rz, __half22float2 and so on.
// CAUSEWAY_SMALL_FLOAT_NAMES(type, word, pair type, pair word) defines them for one format.
#pragma once
#include "make_vectors.h"
#include "small_float_pair.h"

#define CAUSEWAY_SMALL_FLOAT_INTEGER(Type, word, Integer, name, mode, rounding)                                  \
  inline Integer __##word##2##name##_##mode(Type a) {                                                            \
    return ::causeway::emulator::to_integer<Integer, ::causeway::emulator::Rounding::rounding>(a.widened());     \
  }                                                                                                              \
  inline Type __##name##2##word##_##mode(Integer a) {                                                            \
    return Type::rounded(::causeway::emulator::whole_for_rounding(a), ::causeway::emulator::Rounding::rounding); \
  }
#define CAUSEWAY_SMALL_FLOAT_MODE(Type, word, mode, rounding)                       \
  CAUSEWAY_SMALL_FLOAT_INTEGER(Type, word, int, int, mode, rounding)                \
  CAUSEWAY_SMALL_FLOAT_INTEGER(Type, word, unsigned int, uint, mode, rounding)      \
  CAUSEWAY_SMALL_FLOAT_INTEGER(Type, word, short, short, mode, rounding)            \
  CAUSEWAY_SMALL_FLOAT_INTEGER(Type, word, unsigned short, ushort, mode, rounding)  \
  CAUSEWAY_SMALL_FLOAT_INTEGER(Type, word, long long, ll, mode, rounding)           \
  CAUSEWAY_SMALL_FLOAT_INTEGER(Type, word, unsigned long long, ull, mode, rounding) \
  inline Type __float2##word##_##mode(float a) { return Type::rounded(a, ::causeway::emulator::Rounding::rounding); }

#define CAUSEWAY_SMALL_FLOAT_NAMES(Type, word, Pair, pair_word)                                                \
  CAUSEWAY_SMALL_FLOAT_MODE(Type, word, rn, nearest)                                                           \
  CAUSEWAY_SMALL_FLOAT_MODE(Type, word, rz, zero)                                                              \
  CAUSEWAY_SMALL_FLOAT_MODE(Type, word, ru, up)                                                                \
  CAUSEWAY_SMALL_FLOAT_MODE(Type, word, rd, down)                                                              \
  inline Type __float2##word(float a) { return Type::rounded(a); }                                             \
  inline Type __double2##word(double a) { return Type::rounded(a); }                                           \
  inline float __##word##2float(Type a) { return a.widened(); }                                                \
  inline Type __ushort_as_##word(unsigned short bits) { return Type::of_bits(bits); }                          \
  inline Type __short_as_##word(short bits) { return Type::of_bits(static_cast<unsigned short>(bits)); }       \
  inline unsigned short __##word##_as_ushort(Type a) { return a.bits; }                                        \
  inline short __##word##_as_short(Type a) { return static_cast<short>(a.bits); }                              \
  inline Pair make_##pair_word(Type x, Type y) { return Pair(x, y); }                                          \
  inline Pair __halves2##pair_word(Type x, Type y) { return Pair(x, y); }                                      \
  inline Pair __##word##2##pair_word(Type a) { return Pair(a, a); }                                            \
  inline Pair __float2##pair_word##_rn(float a) { return Pair(Type::rounded(a), Type::rounded(a)); }           \
  inline Pair __floats2##pair_word##_rn(float x, float y) { return Pair(Type::rounded(x), Type::rounded(y)); } \
  inline Pair __float22##pair_word##_rn(float2 a) { return Pair(Type::rounded(a.x), Type::rounded(a.y)); }     \
  inline float2 __##pair_word##2float2(Pair a) { return make_float2(a.x.widened(), a.y.widened()); }           \
  inline Type __low2##word(Pair a) { return a.x; }                                                             \
  inline Type __high2##word(Pair a) { return a.y; }                                                            \
  inline Pair __low2##pair_word(Pair a) { return Pair(a.x, a.x); }                                             \
  inline Pair __high2##pair_word(Pair a) { return Pair(a.y, a.y); }                                            \
  inline Pair __lows2##pair_word(Pair a, Pair b) { return Pair(a.x, b.x); }                                    \
  inline Pair __highs2##pair_word(Pair a, Pair b) { return Pair(a.y, b.y); }
