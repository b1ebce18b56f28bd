// Which rank holds an expert, without a division.
#pragma once
#include <causeway/machine/machine.hpp>

#include <cstdint>

namespace causeway::moe {

/// A divisor that is known in advance. Device code multiplies, since a division is some hundred instructions.
/// (Lemire, Kaser, Kurz: Faster remainder by direct computation, 2019.)
class Divisor {
 public:
  constexpr Divisor() = default;
  CAUSEWAY_HOST_DEVICE constexpr explicit Divisor(int by)
      : by_(by), reciprocal_(by > 1 ? ~uint64_t(0) / uint64_t(by) + 1 : 0) {}
  /// `of` must not be negative.
  CAUSEWAY_DEVICE int quotient(int of) const {
    return by_ == 1 ? of : int(machine::multiply_high(reciprocal_, uint64_t(of)));
  }
  CAUSEWAY_DEVICE int remainder(int of) const { return of - quotient(of) * by_; }
  CAUSEWAY_HOST_DEVICE constexpr int value() const { return by_; }

 private:
  int by_ = 1;
  uint64_t reciprocal_ = 0;
};

/// Which rank (or node) holds an expert: each holds a run of the same length.
struct ExpertMap {
  int experts = 1;
  Divisor local;  // experts of a rank
  constexpr ExpertMap() = default;
  CAUSEWAY_HOST_DEVICE constexpr ExpertMap(int of, int ranks) : experts(of), local(of / ranks) {}
  /// -1 for an expert that does not exist.
  CAUSEWAY_DEVICE int rank_of(int64_t expert) const {
    return expert >= 0 && expert < experts ? local.quotient(int(expert)) : -1;
  }
};

}  // namespace causeway::moe
