// Stand-in for CUDA's header of this name: prefix sums over tiles and coalesced groups.
#pragma once
#include "reduce.h"
#if CAUSEWAY_CPU

namespace cooperative_groups {

template <class Group, class T, class Combine>
inline T inclusive_scan(const Group& group, T value, Combine&& combine) {
  return group.combine_up_to(value, combine, group.thread_rank() + 1);
}
template <class Group, class T>
inline T inclusive_scan(const Group& group, T value) {
  return inclusive_scan(group, value, plus<T>());
}
/// The first member gets a value-initialised T.
template <class Group, class T, class Combine>
inline T exclusive_scan(const Group& group, T value, Combine&& combine) {
  const T before = group.combine_up_to(value, combine, group.thread_rank());
  return group.thread_rank() == 0 ? T{} : before;
}
template <class Group, class T>
inline T exclusive_scan(const Group& group, T value) {
  return exclusive_scan(group, value, plus<T>());
}

}  // namespace cooperative_groups

#endif
