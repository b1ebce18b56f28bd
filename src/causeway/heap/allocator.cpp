#include <causeway/base/numbers.hpp>
#include <causeway/heap/allocator.hpp>

#include <algorithm>
#include <cstdint>

namespace causeway {

void Allocator::add(uint64_t begin, size_t bytes) { insert_free(begin, bytes); }

void Allocator::insert_free(uint64_t begin, size_t bytes) {
  auto next = free_.lower_bound(begin);
  if (next != free_.end() && next->first == begin + bytes) {
    bytes += next->second;
    next = free_.erase(next);
  }
  if (next != free_.begin()) {
    auto before = std::prev(next);
    if (before->first + before->second == begin) {
      before->second += bytes;
      return;
    }
  }
  free_.emplace(begin, bytes);
}

std::optional<uint64_t> Allocator::allocate(size_t bytes, size_t alignment) {
  alignment = std::max(alignment, kAlignment);
  const size_t asked = bytes;
  if (bytes > SIZE_MAX - kAlignment) return std::nullopt;
  bytes = rounded_up(std::max<size_t>(bytes, 1), kAlignment);
  for (auto range = free_.begin(); range != free_.end(); ++range) {
    const uint64_t begin = rounded_up(range->first, alignment);
    const uint64_t skipped = begin - range->first;
    if (skipped > range->second || range->second - skipped < bytes) continue;
    const uint64_t range_begin = range->first, range_end = range_begin + range->second;
    free_.erase(range);
    if (skipped) free_.emplace(range_begin, skipped);
    if (begin + bytes < range_end) free_.emplace(begin + bytes, range_end - begin - bytes);
    used_.emplace(begin, Used{asked, bytes});
    bytes_used_ += bytes;
    return begin;
  }
  return std::nullopt;
}

bool Allocator::free(uint64_t offset) {
  const auto block = used_.find(offset);
  if (block == used_.end()) return false;
  insert_free(offset, block->second.taken);
  bytes_used_ -= block->second.taken;
  used_.erase(block);
  return true;
}

std::optional<size_t> Allocator::size_of(uint64_t offset) const {
  const auto block = used_.find(offset);
  if (block == used_.end()) return std::nullopt;
  return block->second.asked;
}

size_t Allocator::largest_free() const {
  size_t bytes = 0;
  for (const auto& [begin, size] : free_) bytes = std::max(bytes, size);
  return bytes;
}

}  // namespace causeway
