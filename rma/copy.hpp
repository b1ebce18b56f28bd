// How a group copies: 16 bytes a step where both sides allow it, eight loads in flight before the first store.
#pragma once
#include <causeway/machine/group.hpp>

#include <cstddef>
#include <cstdint>

namespace causeway {

enum class Towards { peer, self };

namespace detail {

#if !defined(CAUSEWAY_CPU) && !defined(CAUSEWAY_HOST_ONLY)
/// [begin, end) words, dealt to the group in turn, `InFlight` loads of a thread before its first store.
template <class Word, int InFlight, class Group>
CAUSEWAY_DEVICE void copy_words(Group group, Word* to, const Word* from, size_t words) {
  const size_t step = group.size();
  size_t i = group.rank();
  for (; i + (InFlight - 1) * step < words; i += InFlight * step) {
    Word held[InFlight];
#pragma unroll
    for (int k = 0; k < InFlight; ++k) held[k] = machine::load_copy(from + i + k * step);
#pragma unroll
    for (int k = 0; k < InFlight; ++k) machine::store_copy(to + i + k * step, held[k]);
  }
  for (; i < words; i += step) machine::store_copy(to + i, machine::load_copy(from + i));
}

/// Both sides equally far from a 16-byte boundary: bytes up to it, 16-byte words, bytes after.
template <class Group>
CAUSEWAY_DEVICE void copy_words16(Group group, char* to, const char* from, size_t bytes) {
  size_t head = (16 - reinterpret_cast<uint64_t>(to) % 16) % 16;
  if (head > bytes) head = bytes;
  copy_words<uint8_t, 1>(group, reinterpret_cast<uint8_t*>(to), reinterpret_cast<const uint8_t*>(from), head);
  const size_t words = (bytes - head) / 16, done = head + words * 16;
  copy_words<machine::Word16, 8>(group, reinterpret_cast<machine::Word16*>(to + head),
                                 reinterpret_cast<const machine::Word16*>(from + head), words);
  copy_words<uint8_t, 1>(group, reinterpret_cast<uint8_t*>(to + done), reinterpret_cast<const uint8_t*>(from + done),
                         bytes - done);
}
#endif

/// This thread's contiguous share of a copy: what one thread of the CPU machine copies with one memcpy. Shares start at
/// multiples of 64 bytes so that threads do not share lines.
template <class Group>
CAUSEWAY_DEVICE void copy_share(Group group, Towards towards, char* to, const char* from, size_t bytes) {
  size_t share = bytes;
  if (group.size() > 1) share = ((bytes + group.size() - 1) / group.size() + 63) / 64 * 64;
  const size_t begin = share * group.rank() < bytes ? share * group.rank() : bytes;
  const size_t end = begin + share < bytes ? begin + share : bytes;
  if (begin == end) return;
  if (towards == Towards::peer) {
    machine::copy_to_peer(to + begin, from + begin, end - begin);
  } else {
    machine::copy_from_peer(to + begin, from + begin, end - begin);
  }
}

}  // namespace detail

/// Copies between distinct places (or a place and itself), any alignment; all threads of the group call it with the same
/// arguments. Does not sync the group.
template <class Group>
CAUSEWAY_DEVICE void copy(Group group, Towards towards, void* to, const void* from, size_t bytes) {
  char* dest = static_cast<char*>(to);
  const char* source = static_cast<const char*>(from);
#if defined(CAUSEWAY_CPU)
  detail::copy_share(group, towards, dest, source, bytes);
#elif !defined(CAUSEWAY_HOST_ONLY)
  (void)towards;
  const uint64_t apart = reinterpret_cast<uint64_t>(dest) ^ reinterpret_cast<uint64_t>(source);
  const uint64_t both = reinterpret_cast<uint64_t>(dest) | bytes;
  if (apart % 16 == 0) {
    detail::copy_words16(group, dest, source, bytes);
  } else if (apart % 4 == 0 && both % 4 == 0) {
    detail::copy_words<uint32_t, 8>(group, reinterpret_cast<uint32_t*>(dest), reinterpret_cast<const uint32_t*>(source),
                                    bytes / 4);
  } else {
    detail::copy_words<uint8_t, 8>(group, reinterpret_cast<uint8_t*>(dest), reinterpret_cast<const uint8_t*>(source),
                                   bytes);
  }
#endif
}

}  // namespace causeway
