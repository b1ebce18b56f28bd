// bfloat16: the upper half of a float.
#pragma once
#include "small_float_type.h"

struct __nv_bfloat16_raw {
  unsigned short x;
};
struct __align__(4) __nv_bfloat162_raw {
  unsigned short x, y;
};

struct __nv_bfloat16 : ::causeway::emulator::SmallFloat<__nv_bfloat16, ::causeway::emulator::Bfloat16Format> {
  CAUSEWAY_SMALL_FLOAT_TYPE(__nv_bfloat16, __nv_bfloat16_raw)
};
struct __align__(4) __nv_bfloat162 : ::causeway::emulator::SmallFloatPair<__nv_bfloat162, __nv_bfloat16>{
                                         CAUSEWAY_SMALL_FLOAT_PAIR(__nv_bfloat162, __nv_bfloat16, __nv_bfloat162_raw)};
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;
static_assert(sizeof(__nv_bfloat16) == 2 && alignof(__nv_bfloat16) == 2 && sizeof(__nv_bfloat162) == 4,
              "layout of CUDA");
static_assert(std::is_trivially_copyable_v<__nv_bfloat16> && std::is_trivially_default_constructible_v<__nv_bfloat162>,
              "usable in unions and shared memory");

CAUSEWAY_SMALL_FLOAT_NAMES(__nv_bfloat16, bfloat16, __nv_bfloat162, bfloat162)
inline __nv_bfloat162 __lowhigh2highlow(__nv_bfloat162 a) { return __nv_bfloat162(a.y, a.x); }

#define CUDART_INF_BF16 __ushort_as_bfloat16(0x7f80)
#define CUDART_NAN_BF16 __ushort_as_bfloat16(0x7fff)
#define CUDART_MIN_DENORM_BF16 __ushort_as_bfloat16(0x0001)
#define CUDART_MAX_NORMAL_BF16 __ushort_as_bfloat16(0x7f7f)
#define CUDART_NEG_ZERO_BF16 __ushort_as_bfloat16(0x8000)
#define CUDART_ZERO_BF16 __ushort_as_bfloat16(0x0000)
#define CUDART_ONE_BF16 __ushort_as_bfloat16(0x3f80)
