// A set of lanes of one warp and what they do together: the part that tiles and coalesced groups share.
#pragma once
#include <causeway/base/numbers.hpp>

#include "../cuda_runtime.h"

namespace causeway::emulator {

/// The values of all lanes of a mask, of any trivially copyable type; 64 bits travel at a time.
template <class T>
struct Gathered {
  static_assert(std::is_trivially_copyable_v<T>, "values travel between threads as bytes");
  static constexpr size_t words = divided_up(sizeof(T), sizeof(uint64_t));
  uint64_t word[words][32];
  unsigned took_part = 0;

  Gathered(unsigned mask, const T& mine) {
    uint64_t bits[words] = {};
    memcpy(bits, &mine, sizeof(T));
    for (size_t i = 0; i < words; ++i) took_part = cpu::exchange_warp(mask, bits[i], word[i]);
  }
  T operator[](unsigned lane) const {
    uint64_t bits[words];
    for (size_t i = 0; i < words; ++i) bits[i] = word[i][lane];
    T value;
    memcpy(static_cast<void*>(&value), bits, sizeof(T));
    return value;
  }
};

class LaneGroup {
 public:
  explicit LaneGroup(unsigned mask) : mask_(mask) {}

  void sync() const { ::__syncwarp(mask_); }
  unsigned thread_rank() const { return rank_of(lane_index()); }
  unsigned num_threads() const { return static_cast<unsigned>(__builtin_popcount(mask_)); }
  unsigned size() const { return num_threads(); }

  /// The value of the member with this rank (modulo the size).
  template <class T>
  T shfl(T value, int rank) const {
    return from(value, static_cast<unsigned>(rank) % num_threads());
  }
  template <class T>
  T shfl_up(T value, unsigned delta) const {
    const unsigned mine = thread_rank();
    return from(value, mine < delta ? mine : mine - delta);
  }
  template <class T>
  T shfl_down(T value, unsigned delta) const {
    const unsigned mine = thread_rank();
    return from(value, mine + delta >= num_threads() ? mine : mine + delta);
  }
  template <class T>
  T shfl_xor(T value, unsigned bits) const {
    const unsigned mine = thread_rank(), other = mine ^ bits;
    return from(value, other >= num_threads() ? mine : other);
  }

  bool any(int predicate) const { return ::__any_sync(mask_, predicate) != 0; }
  bool all(int predicate) const { return ::__all_sync(mask_, predicate) != 0; }
  /// One bit a member, in order of rank.
  unsigned ballot(int predicate) const { return ranks_of(::__ballot_sync(mask_, predicate)); }
  template <class T>
  unsigned match_any(T value) const {
    return ranks_of(::__match_any_sync(mask_, value));
  }
  template <class T>
  unsigned match_all(T value, int& predicate) const {
    return ranks_of(::__match_all_sync(mask_, value, &predicate));
  }

  /// All members' values, combined in order of rank: of those before the caller and, if so asked, its own.
  template <class T, class Combine>
  T combine_up_to(const T& value, Combine combine, unsigned ranks) const {
    const Gathered<T> all(mask_, value);
    T result = all[lane_of(0)];
    for (unsigned rank = 1; rank < ranks; ++rank) result = combine(result, all[lane_of(rank)]);
    return result;
  }

  unsigned lane_mask() const { return mask_; }

 protected:
  unsigned rank_of(unsigned lane) const {
    return static_cast<unsigned>(__builtin_popcount(mask_ & ((1u << lane) - 1)));
  }
  unsigned lane_of(unsigned rank) const { return ::__fns(mask_, 0, static_cast<int>(rank) + 1); }
  unsigned ranks_of(unsigned lanes) const {
    unsigned result = 0;
    for (unsigned left = lanes; left; left &= left - 1)
      result |= 1u << rank_of(static_cast<unsigned>(__builtin_ctz(left)));
    return result;
  }

 private:
  template <class T>
  T from(const T& value, unsigned rank) const {
    const Gathered<T> all(mask_, value);
    const unsigned lane = lane_of(rank);
    return lane < 32 && (all.took_part >> lane & 1) ? all[lane] : value;
  }

  unsigned mask_;
};

}  // namespace causeway::emulator
