// min and max of the global namespace, for the pairs of types that CUDA has. They are no templates, so that they win
// over std::min after `using namespace std`, and so that mixed types convert as in CUDA.
#pragma once
#include <math.h>

#define CAUSEWAY_MIN_MAX(A, B, Result)                                                                        \
  constexpr inline Result min(const A a, const B b) {                                                         \
    return static_cast<Result>(b) < static_cast<Result>(a) ? static_cast<Result>(b) : static_cast<Result>(a); \
  }                                                                                                           \
  constexpr inline Result max(const A a, const B b) {                                                         \
    return static_cast<Result>(a) < static_cast<Result>(b) ? static_cast<Result>(b) : static_cast<Result>(a); \
  }
#define CAUSEWAY_MIN_MAX_SIGNS(Signed, Unsigned) \
  CAUSEWAY_MIN_MAX(Signed, Signed, Signed)       \
  CAUSEWAY_MIN_MAX(Unsigned, Unsigned, Unsigned) \
  CAUSEWAY_MIN_MAX(Signed, Unsigned, Unsigned)   \
  CAUSEWAY_MIN_MAX(Unsigned, Signed, Unsigned)
CAUSEWAY_MIN_MAX_SIGNS(int, unsigned int)
CAUSEWAY_MIN_MAX_SIGNS(long, unsigned long)
CAUSEWAY_MIN_MAX_SIGNS(long long, unsigned long long)
#undef CAUSEWAY_MIN_MAX_SIGNS
#undef CAUSEWAY_MIN_MAX

#define CAUSEWAY_FLOAT_MIN_MAX(A, B, Result, suffix)                       \
  inline Result min(const A a, const B b) { return ::fmin##suffix(a, b); } \
  inline Result max(const A a, const B b) { return ::fmax##suffix(a, b); }
CAUSEWAY_FLOAT_MIN_MAX(float, float, float, f)
CAUSEWAY_FLOAT_MIN_MAX(double, double, double, )
CAUSEWAY_FLOAT_MIN_MAX(float, double, double, )
CAUSEWAY_FLOAT_MIN_MAX(double, float, double, )
#undef CAUSEWAY_FLOAT_MIN_MAX

inline unsigned int umin(unsigned int a, unsigned int b) { return b < a ? b : a; }
inline unsigned int umax(unsigned int a, unsigned int b) { return a < b ? b : a; }
inline long long llmin(long long a, long long b) { return b < a ? b : a; }
inline long long llmax(long long a, long long b) { return a < b ? b : a; }
inline unsigned long long ullmin(unsigned long long a, unsigned long long b) { return b < a ? b : a; }
inline unsigned long long ullmax(unsigned long long a, unsigned long long b) { return a < b ? b : a; }
