// CUDA's vector types (int2, float4, ...) and dim3, with the alignments that vector loads rely on.
#pragma once
#include "specifiers.h"

#define CAUSEWAY_VECTOR_TYPES(Scalar, Name, align1, align2, align4)                                     \
  struct __align__(align1) Name##1 {                                                                    \
    Scalar x;                                                                                           \
  };                                                                                                    \
  struct __align__(align2) Name##2 {                                                                    \
    Scalar x, y;                                                                                        \
  };                                                                                                    \
  struct Name##3 {                                                                                      \
    Scalar x, y, z;                                                                                     \
  };                                                                                                    \
  struct __align__(align4) Name##4 {                                                                    \
    Scalar x, y, z, w;                                                                                  \
  };                                                                                                    \
  static_assert(sizeof(Name##2) == 2 * sizeof(Scalar) && alignof(Name##2) == align2, "layout of CUDA"); \
  static_assert(sizeof(Name##3) == 3 * sizeof(Scalar) && alignof(Name##3) == align1, "layout of CUDA"); \
  static_assert(sizeof(Name##4) == 4 * sizeof(Scalar) && alignof(Name##4) == align4, "layout of CUDA");

CAUSEWAY_VECTOR_TYPES(signed char, char, 1, 2, 4)
CAUSEWAY_VECTOR_TYPES(unsigned char, uchar, 1, 2, 4)
CAUSEWAY_VECTOR_TYPES(short, short, 2, 4, 8)
CAUSEWAY_VECTOR_TYPES(unsigned short, ushort, 2, 4, 8)
CAUSEWAY_VECTOR_TYPES(int, int, 4, 8, 16)
CAUSEWAY_VECTOR_TYPES(unsigned int, uint, 4, 8, 16)
CAUSEWAY_VECTOR_TYPES(long, long, 8, 16, 16)
CAUSEWAY_VECTOR_TYPES(unsigned long, ulong, 8, 16, 16)
CAUSEWAY_VECTOR_TYPES(long long, longlong, 8, 16, 16)
CAUSEWAY_VECTOR_TYPES(unsigned long long, ulonglong, 8, 16, 16)
CAUSEWAY_VECTOR_TYPES(float, float, 4, 8, 16)
CAUSEWAY_VECTOR_TYPES(double, double, 8, 16, 16)
#undef CAUSEWAY_VECTOR_TYPES

/// A shape of a grid or a block; components not given are 1.
struct dim3 {
  unsigned int x, y, z;
  constexpr dim3(unsigned int in_x = 1, unsigned int in_y = 1, unsigned int in_z = 1) : x(in_x), y(in_y), z(in_z) {}
  constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  constexpr operator uint3() const { return uint3{x, y, z}; }
};
