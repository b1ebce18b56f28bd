// The types of the interface, by the specification's tables: X(name in the calls, C type).
#pragma once
#include <cstddef>
#include <cstdint>

// Unsigned and signed integers that have waits.
#define CONFORMANCE_WAIT_TYPES_BUT_PTRDIFF(X)                                                                      \
  X(short, short)                                                                                                  \
  X(int, int)                                                                                                      \
  X(long, long) X(longlong, long long) X(ushort, unsigned short) X(uint, unsigned int) X(ulong, unsigned long)     \
      X(ulonglong, unsigned long long) X(int32, int32_t) X(int64, int64_t) X(uint32, uint32_t) X(uint64, uint64_t) \
          X(size, size_t)
#define CONFORMANCE_WAIT_TYPES(X) CONFORMANCE_WAIT_TYPES_BUT_PTRDIFF(X) X(ptrdiff, ptrdiff_t)

// Integers that can be added up.
#define CONFORMANCE_INTEGER_TYPES(X)    \
  CONFORMANCE_WAIT_TYPES_BUT_PTRDIFF(X) \
  X(char, char)                         \
  X(schar, signed char) X(uchar, unsigned char) X(int8, int8_t) X(int16, int16_t) X(uint8, uint8_t) X(uint16, uint16_t)
#define CONFORMANCE_FLOAT_TYPES(X) X(bfloat16, __nv_bfloat16) X(half, half) X(float, float) X(double, double)

#define CONFORMANCE_SUM_TYPES(X) CONFORMANCE_FLOAT_TYPES(X) CONFORMANCE_INTEGER_TYPES(X)
#define CONFORMANCE_TYPES(X) CONFORMANCE_SUM_TYPES(X) X(ptrdiff, ptrdiff_t)
