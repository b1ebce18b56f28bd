// Stand-in for CUDA's header of this name: reductions over tiles and coalesced groups.
#pragma once
#include "../cooperative_groups.h"
#if CAUSEWAY_CPU

namespace cooperative_groups {

#define CAUSEWAY_GROUP_OPERATION(name, expression)         \
  template <class T>                                       \
  struct name {                                            \
    T operator()(T a, T b) const { return T(expression); } \
  };
CAUSEWAY_GROUP_OPERATION(plus, a + b)
CAUSEWAY_GROUP_OPERATION(less, b < a ? b : a)
CAUSEWAY_GROUP_OPERATION(greater, a < b ? b : a)
CAUSEWAY_GROUP_OPERATION(bit_and, a& b)
CAUSEWAY_GROUP_OPERATION(bit_or, a | b)
CAUSEWAY_GROUP_OPERATION(bit_xor, a ^ b)
#undef CAUSEWAY_GROUP_OPERATION

/// All members' values combined, in order of rank, given to all of them.
template <class Group, class T, class Combine>
inline T reduce(const Group& group, T value, Combine&& combine) {
  return group.combine_up_to(value, combine, group.num_threads());
}
template <class Group, class T, class Combine>
inline void reduce_update_async(const Group& group, T& destination, T value, Combine&& combine) {
  const T all = reduce(group, value, combine);
  if (group.thread_rank() == 0)
    emulator::modify(&destination, [&](T old) { return static_cast<T>(combine(old, all)); });
}

}  // namespace cooperative_groups

#endif
