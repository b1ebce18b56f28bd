// The six comparisons of waits, as the host's model has them.
#pragma once
#include "harness.hpp"

namespace conformance {

template <class T>
bool compares(T seen, int cmp, T value) {
  switch (cmp) {
    case NVSHMEM_CMP_EQ:
      return seen == value;
    case NVSHMEM_CMP_NE:
      return seen != value;
    case NVSHMEM_CMP_GT:
      return seen > value;
    case NVSHMEM_CMP_LE:
      return seen <= value;
    case NVSHMEM_CMP_LT:
      return seen < value;
    default:
      return seen >= value;
  }
}

/// A comparison, and its value, that holds once the word has become `last`, and does not before, as `first`.
template <class T>
int draw_comparison(Random& random, T first, T last, T* value) {
  for (;;) {
    const int cmp = random.between(NVSHMEM_CMP_EQ, NVSHMEM_CMP_GE);
    *value = random.chance(50) ? first : last;
    if (random.chance(20) && *value != T(~T{0})) *value = T(*value + 1);
    if (compares(last, cmp, *value) && !compares(first, cmp, *value)) return cmp;
  }
}

}  // namespace conformance
