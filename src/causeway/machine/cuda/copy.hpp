// How a group copies on a GPU: whole elements, and the widest words there are.
//
// What lies at a multiple of its size, up to 8 bytes, is never seen half written: the destination is written in
// naturally aligned words of 1, 2, 4, 8 and 16 bytes, none of which ends inside such an element. Between the first and
// the last multiple of 16, words of 16 bytes are stored; where the source lies otherwise, each is put together from the
// two words of the source that hold it. Loads come in batches before their stores, also the last ones, since a trip to
// memory is long.
#pragma once
#include <causeway/base/numbers.hpp>
#include <causeway/machine/cuda/vocabulary.hpp>
#include <causeway/machine/towards.hpp>

#include <cstddef>
#include <cstdint>

namespace causeway::machine {

namespace detail {

/// What a copy reads of a peer comes from there at every call; own memory may come from the L1 cache.
template <Towards Way, class Word>
CAUSEWAY_DEVICE Word load_word(const Word* from) {
  if constexpr (Way == Towards::self) {
    return load_fresh(from);
  } else {
    return load_copy(from);
  }
}

/// [0, words) dealt to the group in turn, eight loads of a thread before its first store; what is left goes in batches
/// of four.
template <Towards Way, class Group>
CAUSEWAY_DEVICE void copy_words(Group group, Word16* to, const Word16* from, size_t words) {
  const size_t step = opaque(group.size());
  size_t i = group.rank();
#pragma unroll 1
  for (; i + 7 * step < words; i += 8 * step) {
    Word16 held[8];
#pragma unroll
    for (int k = 0; k < 8; ++k) held[k] = load_word<Way>(from + i + k * step);
#pragma unroll
    for (int k = 0; k < 8; ++k) store_copy(to + i + k * step, held[k]);
  }
#pragma unroll 1
  for (; i < words; i += 4 * step) {
    Word16 held[4] =
        {};  // (what is not loaded must not look as if it were kept from an earlier round, or from another call)
#pragma unroll
    for (int k = 0; k < 4; ++k)
      if (i + k * step < words) held[k] = load_word<Way>(from + i + k * step);
#pragma unroll
    for (int k = 0; k < 4; ++k)
      if (i + k * step < words) store_copy(to + i + k * step, held[k]);
  }
}

/// The word at `from`, at any address: where it is no multiple of the size, out of the two aligned words that hold it.
template <Towards Way, class Word>
CAUSEWAY_DEVICE Word load_anywhere(const char* from) {
  const unsigned off = unsigned(reinterpret_cast<uint64_t>(from) % sizeof(Word));
  const Word* base = reinterpret_cast<const Word*>(from - off);
  const Word low = load_word<Way>(base);
  if (off == 0) return low;
  const Word high = load_word<Way>(base + 1);
  return Word(low >> (8 * off)) | Word(high << (8 * (sizeof(Word) - off)));
}

/// Fewer than 16 bytes, in words of 8, 4, 2 and 1 bytes: `Falling` from a multiple of 16 on, else up to one.
template <Towards Way, bool Falling>
struct Ends {
  const unsigned bytes;
  uint64_t eight = 0;
  uint32_t four = 0;
  uint16_t two = 0;
  uint8_t one = 0;

  CAUSEWAY_DEVICE explicit Ends(unsigned count) : bytes(count) {}
  CAUSEWAY_DEVICE unsigned offset(unsigned size) const {
    return Falling ? bytes & ~(2 * size - 1) : bytes & (size - 1);
  }
  CAUSEWAY_DEVICE void load(const char* from) {
    if (bytes & 8) eight = load_anywhere<Way, uint64_t>(from + offset(8));
    if (bytes & 4) four = load_anywhere<Way, uint32_t>(from + offset(4));
    if (bytes & 2) two = load_anywhere<Way, uint16_t>(from + offset(2));
    if (bytes & 1) one = load_anywhere<Way, uint8_t>(from + offset(1));
  }
  CAUSEWAY_DEVICE void store(char* to) const {
    if (bytes & 8) store_copy(reinterpret_cast<uint64_t*>(to + offset(8)), eight);
    if (bytes & 4) store_copy(reinterpret_cast<uint32_t*>(to + offset(4)), four);
    if (bytes & 2) store_copy(reinterpret_cast<uint16_t*>(to + offset(2)), two);
    if (bytes & 1) store_copy(reinterpret_cast<uint8_t*>(to + offset(1)), one);
  }
};

/// Words of 16 bytes from a source that lies `off` bytes behind the multiple of 16 at `from`.
template <Towards Way, class Group>
CAUSEWAY_DEVICE void copy_shifted(Group group, Word16* to, const Word16* from, unsigned off, size_t words) {
  constexpr int kInFlight = 4;
  const size_t step = opaque(group.size());
  for (size_t i = group.rank(); i < words; i += kInFlight * step) {
    Word16 low[kInFlight] = {}, high[kInFlight] = {};
#pragma unroll
    for (int k = 0; k < kInFlight; ++k)
      if (i + k * step < words)
        low[k] = load_word<Way>(from + i + k * step), high[k] = load_word<Way>(from + i + k * step + 1);
#pragma unroll
    for (int k = 0; k < kInFlight; ++k)
      if (i + k * step < words) store_copy(to + i + k * step, shifted(low[k], high[k], off));
  }
}
/// By one thread, which keeps the word that the next one begins in.
template <Towards Way>
CAUSEWAY_DEVICE void copy_shifted_alone(Word16* to, const Word16* from, unsigned off, size_t words) {
  constexpr int kInFlight = 4;
  if (words == 0) return;
  Word16 before = load_word<Way>(from);
  for (size_t i = 0; i < words; i += kInFlight) {
    Word16 held[kInFlight] = {};
#pragma unroll
    for (int k = 0; k < kInFlight; ++k)
      if (i + k < words) held[k] = load_word<Way>(from + i + k + 1);
#pragma unroll
    for (int k = 0; k < kInFlight; ++k) {
      if (i + k < words) store_copy(to + i + k, shifted(before, held[k], off));
      before = held[k];
    }
  }
}

/// Any addresses, any number of bytes.
template <Towards Way, class Group>
CAUSEWAY_DEVICE_LARGE void copy_anything(Group group, char* to, const char* from, size_t bytes) {
  if (bytes == 0) return;
  const uint64_t begin = reinterpret_cast<uint64_t>(to), end = begin + bytes;
  // The first multiple of 16; without one, the address between the ends that is a multiple of most.
  uint64_t middle = rounded_up(begin, 16);
  if (middle > end) middle = end >> highest_bit(begin ^ end) << highest_bit(begin ^ end);
  const size_t head = middle - begin, words = (bytes - head) / 16, done = head + words * 16;
  if (group.rank() == group.size() - 1) {  // (held in registers beside the words below they would be too many)
    Ends<Way, false> first{unsigned(head)};
    Ends<Way, true> last{unsigned(bytes - done)};
    first.load(from), last.load(from + done);
    first.store(to), last.store(to + done);
  }
  const char* source = from + head;
  const unsigned off = unsigned(reinterpret_cast<uint64_t>(source) % 16);
  Word16* target = reinterpret_cast<Word16*>(to + head);
  const Word16* base = reinterpret_cast<const Word16*>(source - off);
  if (off == 0) {
    copy_words<Way>(group, target, base, words);
  } else if constexpr (Group::kOneThread) {
    copy_shifted_alone<Way>(target, base, off, words);
  } else {
    copy_shifted<Way>(group, target, base, off, words);
  }
}

template <Towards Way, class Word>
CAUSEWAY_DEVICE void copy_one(char* to, const char* from) {
  store_copy(reinterpret_cast<Word*>(to), load_word<Way>(reinterpret_cast<const Word*>(from)));
}

/// One aligned element, or words of 16 bytes: here. The rest: out of line.
template <Towards Way, class Group>
CAUSEWAY_DEVICE void copy_by_words(Group group, char* to, const char* from, size_t bytes) {
  const uint64_t both = reinterpret_cast<uint64_t>(to) | reinterpret_cast<uint64_t>(from);
  if ((both | bytes) % 16 == 0)
    return copy_words<Way>(group, reinterpret_cast<Word16*>(to), reinterpret_cast<const Word16*>(from), bytes / 16);
  if (bytes > 8 || (bytes & (bytes - 1)) != 0 || (both & (bytes - 1)) != 0)
    return copy_anything<Way>(group, to, from, bytes);
  if (group.rank() != 0) return;
  if (bytes == 8) copy_one<Way, uint64_t>(to, from);
  if (bytes == 4) copy_one<Way, uint32_t>(to, from);
  if (bytes == 2) copy_one<Way, uint16_t>(to, from);
  if (bytes == 1) copy_one<Way, uint8_t>(to, from);
}

/// A group of one thread.
struct One {
  static constexpr bool kOneThread = true;
  CAUSEWAY_DEVICE unsigned rank() const { return 0; }
  CAUSEWAY_DEVICE unsigned size() const { return 1; }
};

template <Towards Way, size_t Bytes>
CAUSEWAY_DEVICE void copy_element_by_words(char* to, const char* from) {
  if ((reinterpret_cast<uint64_t>(to) | reinterpret_cast<uint64_t>(from)) % Bytes != 0) {
    copy_anything<Way>(One{}, to, from, Bytes);
  } else if constexpr (Bytes == 16) {
    copy_one<Way, Word16>(to, from);
  } else {
    copy_one<Way, WordOf<Bytes>>(to, from);
  }
}

}  // namespace detail

/// Copies between distinct addresses (or equal ones), any alignment; all threads of the group call it with the
/// same arguments. Does not sync the group.
template <class Group>
CAUSEWAY_DEVICE void copy(Group group, Towards towards, void* to, const void* from, size_t bytes) {
  char* dest = static_cast<char*>(to);
  const char* source = static_cast<const char*>(from);
  if (towards == Towards::peer) {
    detail::copy_by_words<Towards::peer>(group, dest, source, bytes);
  } else {
    detail::copy_by_words<Towards::self>(group, dest, source, bytes);
  }
}

/// One element, in one access where both addresses are multiples of its size.
template <size_t Bytes>
CAUSEWAY_DEVICE void copy_element(Towards towards, char* to, const char* from) {
  if (towards == Towards::peer) {
    detail::copy_element_by_words<Towards::peer, Bytes>(to, from);
  } else {
    detail::copy_element_by_words<Towards::self, Bytes>(to, from);
  }
}

}  // namespace causeway::machine
