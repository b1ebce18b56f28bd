// half: IEEE 754 binary16.
#pragma once
#include "small_float_type.h"

struct __half_raw {
  unsigned short x;
};
struct __align__(4) __half2_raw {
  unsigned short x, y;
};

struct __half : ::causeway::emulator::SmallFloat<__half, ::causeway::emulator::HalfFormat> {
  CAUSEWAY_SMALL_FLOAT_TYPE(__half, __half_raw)
};
struct __align__(4) __half2
    : ::causeway::emulator::SmallFloatPair<__half2, __half>{CAUSEWAY_SMALL_FLOAT_PAIR(__half2, __half, __half2_raw)};
typedef __half half;
typedef __half2 half2;
typedef __half nv_half;
typedef __half2 nv_half2;
typedef __half __nv_half;
typedef __half2 __nv_half2;
static_assert(sizeof(__half) == 2 && alignof(__half) == 2 && sizeof(__half2) == 4, "layout of CUDA");
static_assert(std::is_trivially_copyable_v<__half> && std::is_trivially_default_constructible_v<__half2>,
              "usable in unions and shared memory");

CAUSEWAY_SMALL_FLOAT_NAMES(__half, half, __half2, half2)
inline __half2 __lowhigh2highlow(__half2 a) { return __half2(a.y, a.x); }

#define CUDART_INF_FP16 __ushort_as_half(0x7c00)
#define CUDART_NAN_FP16 __ushort_as_half(0x7fff)
#define CUDART_MIN_DENORM_FP16 __ushort_as_half(0x0001)
#define CUDART_MAX_NORMAL_FP16 __ushort_as_half(0x7bff)
#define CUDART_NEG_ZERO_FP16 __ushort_as_half(0x8000)
#define CUDART_ZERO_FP16 __ushort_as_half(0x0000)
#define CUDART_ONE_FP16 __ushort_as_half(0x3c00)
