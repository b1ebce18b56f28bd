// The 8-bit floating-point format e4m3 (OCP 8-bit Floating Point Specification: 4 bits of exponent with bias 7, 3 of
// fraction, no infinity, greatest 448), in plain arithmetic: the same on every machine.
#pragma once
#include <causeway/base/word.hpp>
#include <causeway/machine/machine.hpp>

#include <cstdint>

namespace causeway::moe {

constexpr float kE4m3Max = 448.0f;

/// To the nearest value, ties to even; beyond the greatest: the greatest.
CAUSEWAY_HOST_DEVICE uint8_t to_e4m3(float value) {
  uint32_t bits = same_bits<uint32_t>(value);
  const uint32_t sign = bits >> 24 & 0x80u;
  bits &= 0x7fffffffu;
  if (bits > 0x7f800000u) return uint8_t(sign | 0x7fu);       // NaN
  if (bits >= 0x43e00000u) return uint8_t(sign | 0x7eu);      // 448 and more
  if (bits < 0x3c800000u) {                                   // below 2^-6: steps of 2^-9
    const float shifted = same_bits<float>(bits) + 16384.0f;  // 2^14: its last bit is 2^-9, so it is rounded as wanted
    return uint8_t(sign | (same_bits<uint32_t>(shifted) - 0x46800000u));
  }
  const uint32_t rounded = bits + 0x7ffffu + (bits >> 20 & 1u);
  const uint32_t e4m3 = (rounded >> 20) - ((127u - 7u) << 3);
  return uint8_t(sign | (e4m3 > 0x7eu ? 0x7eu : e4m3));
}

/// The least power of two that is not below a positive, normal value.
CAUSEWAY_HOST_DEVICE float power_of_two_above(float value) {
  return same_bits<float>((same_bits<uint32_t>(value) + 0x7fffffu) & 0x7f800000u);
}
/// The biased exponent of a positive power of two: the format UE8M0.
CAUSEWAY_HOST_DEVICE uint8_t exponent_of(float value) { return uint8_t(same_bits<uint32_t>(value) >> 23); }

CAUSEWAY_HOST_DEVICE float from_e4m3(uint8_t e4m3) {
  const int exponent = e4m3 >> 3 & 15, fraction = e4m3 & 7;
  const float magnitude = exponent == 0
                              ? float(fraction) / 512.0f
                              : float(8 + fraction) / 8.0f *
                                    (exponent >= 7 ? float(1 << (exponent - 7)) : 1.0f / float(1 << (7 - exponent)));
  return e4m3 & 0x80 ? -magnitude : magnitude;
}

}  // namespace causeway::moe
