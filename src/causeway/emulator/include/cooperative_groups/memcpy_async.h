// Stand-in for CUDA's header of this name: a copy made by a group. It is done when the group has waited.
#pragma once
#include <causeway/base/numbers.hpp>

#include "../cooperative_groups.h"
#if CAUSEWAY_CPU

namespace cooperative_groups {

template <class Group>
inline void memcpy_async(const Group& group, void* destination, const void* source, size_t bytes) {
  const size_t chunk = ::causeway::divided_up(bytes, size_t(group.size())), from = chunk * group.thread_rank();
  if (from >= bytes) return;
  memcpy(static_cast<char*>(destination) + from, static_cast<const char*>(source) + from,
         bytes - from < chunk ? bytes - from : chunk);
}
template <class Group>
inline void wait(const Group& group) {
  group.sync();
}

}  // namespace cooperative_groups

#endif
