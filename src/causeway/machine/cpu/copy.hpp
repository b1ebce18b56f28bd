// How a group copies on the CPU machine: each thread its share, in one call.
#pragma once
#include <causeway/base/numbers.hpp>
#include <causeway/machine/cpu/vocabulary.hpp>
#include <causeway/machine/towards.hpp>

#include <cstddef>
#include <cstring>

namespace causeway::machine {

/// Large copies by one thread.
CAUSEWAY_API void copy_large(void* to, const void* from, size_t bytes);
/// Own memory to a peer's.
inline void copy_to_peer(void* to, const void* from, size_t bytes) {
  if (cpu::simulated) return cpu::buffered_store(to, from, bytes);
  if (bytes >= 64 * 1024) return copy_large(to, from, bytes);
  std::memcpy(to, from, bytes);
}
/// A peer's memory to own.
inline void copy_from_peer(void* to, const void* from, size_t bytes) {
  if (cpu::simulated) cpu::buffered_read(from, bytes);
  if (bytes >= 64 * 1024) return copy_large(to, from, bytes);
  std::memcpy(to, from, bytes);
}

/// Copies between distinct addresses (or equal ones), any alignment; all threads of the group call it with the
/// same arguments. Does not sync the group.
///
/// A thread's share is contiguous: what one call copies. Shares start at multiples of 64 bytes so that threads do not
/// share lines.
template <class Group>
void copy(Group group, Towards towards, void* to, const void* from, size_t bytes) {
  size_t share = bytes;
  if (group.size() > 1) share = rounded_up(divided_up(bytes, group.size()), 64);
  const size_t begin = share * group.rank() < bytes ? share * group.rank() : bytes;
  const size_t end = begin + share < bytes ? begin + share : bytes;
  if (begin == end) return;
  char* const dest = static_cast<char*>(to) + begin;
  const char* const source = static_cast<const char*>(from) + begin;
  if (towards == Towards::peer) {
    copy_to_peer(dest, source, end - begin);
  } else {
    copy_from_peer(dest, source, end - begin);
  }
}

/// One element, in one access where both addresses are multiples of its size.
template <size_t Bytes>
void copy_element(Towards towards, char* to, const char* from) {
  if (towards == Towards::peer) {
    copy_to_peer(to, from, Bytes);
  } else {
    copy_from_peer(to, from, Bytes);
  }
}

}  // namespace causeway::machine
