// Operations of a warp: shuffles, votes, matches, reductions. Each is one exchange of 64-bit values among the lanes
// named by the mask, and arithmetic on the result.
#pragma once
#include <string.h>

#include "barriers.h"

namespace causeway::emulator {

template <class T>
inline uint64_t to_bits(const T& value) {
  static_assert(sizeof(T) <= 8, "a warp exchanges at most 64 bits");
  uint64_t bits = 0;
  memcpy(&bits, &value, sizeof(T));
  return bits;
}
template <class T>
inline T from_bits(uint64_t bits) {
  T value;
  memcpy(static_cast<void*>(&value), &bits, sizeof(T));
  return value;
}

struct Exchange {
  uint64_t value[32];
  unsigned took_part;

  template <class T>
  Exchange(unsigned mask, const T& mine) : took_part(cpu::exchange_warp(mask, to_bits(mine), value)) {}

  /// Lanes whose value satisfies `predicate`.
  template <class Predicate>
  unsigned lanes(Predicate predicate) const {
    unsigned result = 0;
    for (unsigned lane = 0; lane < 32; ++lane)
      if ((took_part >> lane & 1) && predicate(value[lane])) result |= 1u << lane;
    return result;
  }
  /// All values in lane order combined by `combine`.
  template <class T, class Combine>
  T reduce(Combine combine) const {
    bool first = true;
    T result{};
    for (unsigned lane = 0; lane < 32; ++lane) {
      if (!(took_part >> lane & 1)) continue;
      const T next = from_bits<T>(value[lane]);
      result = first ? next : combine(result, next);
      first = false;
    }
    return result;
  }
};

/// The value of lane `source`; the caller's own if that lane does not take part (CUDA leaves this case undefined).
template <class T>
inline T shuffle(unsigned mask, const T& mine, unsigned source) {
  const Exchange exchange(mask, mine);
  return source < 32 && (exchange.took_part >> source & 1) ? from_bits<T>(exchange.value[source]) : mine;
}

/// First lane of the group of `width` lanes that the caller is in.
inline int group_base(int width) { return static_cast<int>(lane_index()) & ~(width - 1); }

/// Lanes that reach the same call together; see runtime/converged.cpp.
CAUSEWAY_EMULATOR_API unsigned converged_lanes();

template <class T>
using EnableShuffle = std::enable_if_t<std::is_trivially_copyable_v<T> && sizeof(T) <= 8, int>;

}  // namespace causeway::emulator

template <class T, ::causeway::emulator::EnableShuffle<T> = 0>
inline T __shfl_sync(unsigned mask, T value, int source, int width = warpSize) {
  return ::causeway::emulator::shuffle(mask, value, ::causeway::emulator::group_base(width) + (source & (width - 1)));
}
template <class T, ::causeway::emulator::EnableShuffle<T> = 0>
inline T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = warpSize) {
  const int lane = static_cast<int>(::causeway::emulator::lane_index());
  const int source = lane - static_cast<int>(delta);
  return ::causeway::emulator::shuffle(mask, value, source < ::causeway::emulator::group_base(width) ? lane : source);
}
template <class T, ::causeway::emulator::EnableShuffle<T> = 0>
inline T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = warpSize) {
  const int lane = static_cast<int>(::causeway::emulator::lane_index());
  const int source = lane + static_cast<int>(delta);
  return ::causeway::emulator::shuffle(mask, value,
                                       source >= ::causeway::emulator::group_base(width) + width ? lane : source);
}
template <class T, ::causeway::emulator::EnableShuffle<T> = 0>
inline T __shfl_xor_sync(unsigned mask, T value, int lane_mask, int width = warpSize) {
  const int lane = static_cast<int>(::causeway::emulator::lane_index());
  const int source = lane ^ lane_mask;
  return ::causeway::emulator::shuffle(mask, value,
                                       source >= ::causeway::emulator::group_base(width) + width ? lane : source);
}

inline unsigned __ballot_sync(unsigned mask, int predicate) {
  return ::causeway::emulator::Exchange(mask, predicate != 0).lanes([](uint64_t v) { return v != 0; });
}
inline int __any_sync(unsigned mask, int predicate) { return __ballot_sync(mask, predicate) != 0; }
inline int __all_sync(unsigned mask, int predicate) { return __ballot_sync(mask, predicate == 0) == 0; }

template <class T>
inline unsigned __match_any_sync(unsigned mask, T value) {
  const uint64_t mine = ::causeway::emulator::to_bits(value);
  return ::causeway::emulator::Exchange(mask, value).lanes([mine](uint64_t v) { return v == mine; });
}
template <class T>
inline unsigned __match_all_sync(unsigned mask, T value, int* predicate) {
  const uint64_t mine = ::causeway::emulator::to_bits(value);
  const ::causeway::emulator::Exchange exchange(mask, value);
  *predicate = exchange.lanes([mine](uint64_t v) { return v == mine; }) == exchange.took_part;
  return *predicate ? exchange.took_part : 0;
}

/// The lanes that reached this call together. CUDA promises nothing about which those are, and neither does the
/// machine; all of them get the same answer.
__attribute__((always_inline)) inline unsigned __activemask() { return ::causeway::emulator::converged_lanes(); }

#define CAUSEWAY_WARP_REDUCE(name, T, expression)                                                                      \
  inline T name(unsigned mask, T value) {                                                                              \
    return ::causeway::emulator::Exchange(mask, value).reduce<T>([](T a, T b) { return static_cast<T>(expression); }); \
  }
CAUSEWAY_WARP_REDUCE(__reduce_add_sync, unsigned, a + b)
CAUSEWAY_WARP_REDUCE(__reduce_add_sync, int, unsigned(a) + unsigned(b))
CAUSEWAY_WARP_REDUCE(__reduce_min_sync, unsigned, b < a ? b : a)
CAUSEWAY_WARP_REDUCE(__reduce_min_sync, int, b < a ? b : a)
CAUSEWAY_WARP_REDUCE(__reduce_max_sync, unsigned, a < b ? b : a)
CAUSEWAY_WARP_REDUCE(__reduce_max_sync, int, a < b ? b : a)
CAUSEWAY_WARP_REDUCE(__reduce_and_sync, unsigned, a& b)
CAUSEWAY_WARP_REDUCE(__reduce_or_sync, unsigned, a | b)
CAUSEWAY_WARP_REDUCE(__reduce_xor_sync, unsigned, a ^ b)
#undef CAUSEWAY_WARP_REDUCE
