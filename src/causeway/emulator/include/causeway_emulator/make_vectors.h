// make_int2 and its family.
#pragma once
#include "vectors.h"

#define CAUSEWAY_MAKE_VECTORS(Scalar, Name)                                                           \
  constexpr inline Name##1 make_##Name##1(Scalar x) { return Name##1 {x}; }                           \
  constexpr inline Name##2 make_##Name##2(Scalar x, Scalar y) { return Name##2 {x, y}; }              \
  constexpr inline Name##3 make_##Name##3(Scalar x, Scalar y, Scalar z) { return Name##3 {x, y, z}; } \
  constexpr inline Name##4 make_##Name##4(Scalar x, Scalar y, Scalar z, Scalar w) { return Name##4 {x, y, z, w}; }

CAUSEWAY_MAKE_VECTORS(signed char, char)
CAUSEWAY_MAKE_VECTORS(unsigned char, uchar)
CAUSEWAY_MAKE_VECTORS(short, short)
CAUSEWAY_MAKE_VECTORS(unsigned short, ushort)
CAUSEWAY_MAKE_VECTORS(int, int)
CAUSEWAY_MAKE_VECTORS(unsigned int, uint)
CAUSEWAY_MAKE_VECTORS(long, long)
CAUSEWAY_MAKE_VECTORS(unsigned long, ulong)
CAUSEWAY_MAKE_VECTORS(long long, longlong)
CAUSEWAY_MAKE_VECTORS(unsigned long long, ulonglong)
CAUSEWAY_MAKE_VECTORS(float, float)
CAUSEWAY_MAKE_VECTORS(double, double)
#undef CAUSEWAY_MAKE_VECTORS
