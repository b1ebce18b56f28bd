// Mathematical functions that CUDA has and the C library lacks, and the fast variants, which here are as exact as the
// others. Everything else (sqrtf, expf, fmaf, ...) is the C library's own.
#pragma once
#include <math.h>
#include <stdlib.h>

#include "specifiers.h"

// ---- reciprocal roots, lengths
inline float rsqrtf(float x) { return 1.0f / ::sqrtf(x); }
inline double rsqrt(double x) { return 1.0 / ::sqrt(x); }
inline float rsqrt(float x) { return rsqrtf(x); }
inline float rcbrtf(float x) { return 1.0f / ::cbrtf(x); }
inline double rcbrt(double x) { return 1.0 / ::cbrt(x); }
inline float rhypotf(float x, float y) { return 1.0f / ::hypotf(x, y); }
inline double rhypot(double x, double y) { return 1.0 / ::hypot(x, y); }
inline double norm3d(double x, double y, double z) { return ::sqrt(x * x + y * y + z * z); }
inline double norm4d(double x, double y, double z, double w) { return ::sqrt(x * x + y * y + z * z + w * w); }
inline double rnorm3d(double x, double y, double z) { return 1.0 / norm3d(x, y, z); }
inline double rnorm4d(double x, double y, double z, double w) { return 1.0 / norm4d(x, y, z, w); }
// In double, so that squares neither overflow nor vanish.
inline float norm3df(float x, float y, float z) { return static_cast<float>(norm3d(x, y, z)); }
inline float norm4df(float x, float y, float z, float w) { return static_cast<float>(norm4d(x, y, z, w)); }
inline float rnorm3df(float x, float y, float z) { return static_cast<float>(rnorm3d(x, y, z)); }
inline float rnorm4df(float x, float y, float z, float w) { return static_cast<float>(rnorm4d(x, y, z, w)); }

// ---- multiples of pi. The argument is reduced first, which is exact; sin(pi * x) would not be.
inline double sinpi(double x) {
  const double r = ::remainder(x, 2.0);
  if (r == ::trunc(r)) return ::copysign(0.0, x);
  return ::sin(M_PI * r);
}
inline double cospi(double x) {
  const double r = ::fabs(::remainder(x, 2.0));
  if (r == 0.5) return 0.0;
  return ::cos(M_PI * r);
}
inline float sinpif(float x) { return static_cast<float>(sinpi(static_cast<double>(x))); }
inline float cospif(float x) { return static_cast<float>(cospi(static_cast<double>(x))); }
inline void sincospi(double x, double* sine, double* cosine) {
  *sine = sinpi(x);
  *cosine = cospi(x);
}
inline void sincospif(float x, float* sine, float* cosine) {
  *sine = sinpif(x);
  *cosine = cospif(x);
}

// ---- the normal distribution
inline double normcdf(double x) { return 0.5 * ::erfc(-x * M_SQRT1_2); }
inline float normcdff(float x) { return static_cast<float>(normcdf(static_cast<double>(x))); }
inline double erfcx(double x) { return ::exp(x * x) * ::erfc(x); }
inline float erfcxf(float x) { return static_cast<float>(erfcx(static_cast<double>(x))); }

// ---- fast variants
inline float __expf(float x) { return ::expf(x); }
inline float __exp10f(float x) { return static_cast<float>(::pow(10.0, static_cast<double>(x))); }
inline float __logf(float x) { return ::logf(x); }
inline float __log2f(float x) { return ::log2f(x); }
inline float __log10f(float x) { return ::log10f(x); }
inline float __sinf(float x) { return ::sinf(x); }
inline float __cosf(float x) { return ::cosf(x); }
inline float __tanf(float x) { return ::tanf(x); }
inline float __powf(float x, float y) { return ::powf(x, y); }
inline void __sincosf(float x, float* sine, float* cosine) {
  *sine = ::sinf(x);
  *cosine = ::cosf(x);
}
inline float __fdividef(float x, float y) { return x / y; }
inline float fdividef(float x, float y) { return x / y; }
inline double fdivide(double x, double y) { return x / y; }
/// Into [0, 1]; NaN becomes 0.
inline float __saturatef(float x) { return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f; }
