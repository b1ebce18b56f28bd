// Comparisons of waits and operations of signals, as host and device code know them.
#pragma once
#include <causeway/machine/machine.hpp>

namespace causeway {

// Values of the public constants (NVSHMEM_CMP_*, NVSHMEM_SIGNAL_*).
enum Comparison : int { cmp_eq = 0, cmp_ne = 1, cmp_gt = 2, cmp_le = 3, cmp_lt = 4, cmp_ge = 5 };
enum SignalOperation : int { signal_set = 9, signal_add = 10 };

template <class T>
CAUSEWAY_HOST_DEVICE bool compare(T seen, int comparison, T value) {
  switch (comparison) {
    case cmp_eq:
      return seen == value;
    case cmp_ne:
      return seen != value;
    case cmp_gt:
      return seen > value;
    case cmp_le:
      return seen <= value;
    case cmp_lt:
      return seen < value;
    default:
      return seen >= value;
  }
}

/// A comparison with a value.
template <class T>
struct Compared {
  int comparison;
  T value;
  CAUSEWAY_HOST_DEVICE bool operator()(T seen) const { return compare(seen, comparison, value); }
};

CAUSEWAY_HOST_DEVICE const char* comparison_name(int comparison) {
  switch (comparison) {
    case cmp_eq:
      return "==";
    case cmp_ne:
      return "!=";
    case cmp_gt:
      return ">";
    case cmp_le:
      return "<=";
    case cmp_lt:
      return "<";
    default:
      return ">=";
  }
}

}  // namespace causeway
