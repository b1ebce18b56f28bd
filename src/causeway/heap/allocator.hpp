// Gives out offsets of the symmetric heap. Equal sequences of calls give equal offsets on every PE, and nothing is kept
// in the memory itself, which may be a GPU's.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

namespace causeway {

class Allocator {
 public:
  static constexpr size_t kAlignment = 512;  // of every block; a cache line of any machine divides it

  /// Makes [begin, begin + bytes) available. Ranges do not overlap.
  void add(uint64_t begin, size_t bytes);
  /// The lowest offset of `bytes` (at least 1) at a multiple of `alignment` (a power of two); nothing if there is none.
  std::optional<uint64_t> allocate(size_t bytes, size_t alignment = kAlignment);
  /// False if no block begins at `offset`.
  bool free(uint64_t offset);
  /// The size asked for, of the block that begins at `offset`.
  [[nodiscard]] std::optional<size_t> size_of(uint64_t offset) const;
  [[nodiscard]] size_t bytes_used() const { return bytes_used_; }
  [[nodiscard]] size_t largest_free() const;
  [[nodiscard]] size_t blocks() const { return used_.size(); }

 private:
  struct Used {
    size_t asked, taken;
  };
  void insert_free(uint64_t begin, size_t bytes);

  std::map<uint64_t, size_t> free_;  // disjoint, never adjacent
  std::map<uint64_t, Used> used_;
  size_t bytes_used_ = 0;
};

}  // namespace causeway
