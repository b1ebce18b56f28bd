// Cooperative groups: blocks, grids, tiles and coalesced threads as objects.
#pragma once
#include <causeway/base/numbers.hpp>

#include "lane_group.h"

namespace cooperative_groups {

namespace emulator = ::causeway::emulator;

class thread_block {
 public:
  static void sync() { ::__syncthreads(); }
  static unsigned thread_rank() { return emulator::linear_thread_index(); }
  static unsigned num_threads() {
    const dim3 d = emulator::block_dim();
    return d.x * d.y * d.z;
  }
  static unsigned size() { return num_threads(); }
  static dim3 group_index() { return emulator::block_index(); }
  static dim3 thread_index() { return emulator::thread_index(); }
  static dim3 group_dim() { return emulator::block_dim(); }
  static dim3 dim_threads() { return emulator::block_dim(); }
};
inline thread_block this_thread_block() { return {}; }

class grid_group {
 public:
  /// All threads of the grid; meaningful in a cooperative launch.
  static void sync() { ::causeway::cpu::sync_grid(); }
  static bool is_valid() { return true; }
  static unsigned long long block_rank() {
    const uint3 b = emulator::block_index();
    const dim3 g = emulator::grid_dim();
    return b.x + static_cast<unsigned long long>(g.x) * (b.y + static_cast<unsigned long long>(g.y) * b.z);
  }
  static unsigned long long num_blocks() {
    const dim3 g = emulator::grid_dim();
    return static_cast<unsigned long long>(g.x) * g.y * g.z;
  }
  static unsigned long long thread_rank() {
    return block_rank() * thread_block::num_threads() + thread_block::thread_rank();
  }
  static unsigned long long num_threads() { return num_blocks() * thread_block::num_threads(); }
  static unsigned long long size() { return num_threads(); }
  static dim3 block_index() { return emulator::block_index(); }
  static dim3 dim_blocks() { return emulator::grid_dim(); }
  static dim3 group_dim() { return emulator::grid_dim(); }
};
inline grid_group this_grid() { return {}; }

/// Any set of lanes of a warp.
class coalesced_group : public emulator::LaneGroup {
 public:
  explicit coalesced_group(unsigned mask, unsigned meta_rank = 0, unsigned meta_size = 1)
      : LaneGroup(mask), meta_rank_(meta_rank), meta_size_(meta_size) {}
  unsigned meta_group_rank() const { return meta_rank_; }
  unsigned meta_group_size() const { return meta_size_; }
  /// The lanes of these members.
  unsigned lanes_of(unsigned ranks) const {
    unsigned lanes = 0;
    for (unsigned left = ranks; left; left &= left - 1)
      lanes |= 1u << lane_of(static_cast<unsigned>(__builtin_ctz(left)));
    return lanes;
  }

 private:
  unsigned meta_rank_, meta_size_;
};
/// The threads that reach this call together.
__attribute__((always_inline)) inline coalesced_group coalesced_threads() {
  return coalesced_group(emulator::converged_lanes());
}

/// `Size` consecutive threads of a block (a power of two, at most a warp).
template <unsigned Size, class Parent = void>
class thread_block_tile : public emulator::LaneGroup {
  static_assert(Size >= 1 && Size <= 32 && (Size & (Size - 1)) == 0, "a tile has 1, 2, 4, 8, 16 or 32 threads");

 public:
  thread_block_tile(unsigned meta_rank, unsigned meta_size)
      : LaneGroup(tile_mask()), meta_rank_(meta_rank), meta_size_(meta_size) {}
  template <class Other>
  thread_block_tile(const thread_block_tile<Size, Other>& other)
      : thread_block_tile(other.meta_group_rank(), other.meta_group_size()) {}

  static unsigned thread_rank() { return emulator::lane_index() % Size; }
  static constexpr unsigned num_threads() { return Size; }
  static constexpr unsigned size() { return Size; }
  unsigned meta_group_rank() const { return meta_rank_; }
  unsigned meta_group_size() const { return meta_size_; }

 private:
  static unsigned tile_mask() {
    const unsigned ones = Size == 32 ? 0xffffffffu : (1u << (Size % 32)) - 1;
    return ones << (emulator::lane_index() / Size * Size);
  }

  unsigned meta_rank_, meta_size_;
};

template <unsigned Size>
inline thread_block_tile<Size, thread_block> tiled_partition(const thread_block&) {
  return {thread_block::thread_rank() / Size, ::causeway::divided_up(thread_block::num_threads(), Size)};
}
template <unsigned Size, unsigned ParentSize, class Parent>
inline thread_block_tile<Size, thread_block_tile<ParentSize, Parent>> tiled_partition(
    const thread_block_tile<ParentSize, Parent>& parent) {
  static_assert(Size <= ParentSize, "a part is not larger than the whole");
  return {parent.thread_rank() / Size, ParentSize / Size};
}
/// Consecutive members of a coalesced group, `size` at a time.
inline coalesced_group tiled_partition(const coalesced_group& parent, unsigned size) {
  const unsigned tile = parent.thread_rank() / size, ones = size >= 32 ? 0xffffffffu : (1u << size) - 1;
  const unsigned ranks = parent.num_threads() >= 32 ? 0xffffffffu : (1u << parent.num_threads()) - 1;
  return coalesced_group(parent.lanes_of(ones << (tile * size) & ranks), tile,
                         ::causeway::divided_up(parent.num_threads(), size));
}
template <unsigned Size>
inline coalesced_group tiled_partition(const coalesced_group& parent) {
  return tiled_partition(parent, Size);
}
/// Members with the same label.
template <class Group, class Label>
inline coalesced_group labeled_partition(const Group& parent, Label label) {
  const coalesced_group all(parent.lane_mask());
  return coalesced_group(all.lanes_of(all.match_any(label)));
}
template <class Group>
inline coalesced_group binary_partition(const Group& parent, bool predicate) {
  return labeled_partition(parent, static_cast<int>(predicate));
}

/// Any group of one block, when its kind does not matter.
class thread_group {
 public:
  thread_group(const thread_block&) {}
  thread_group(const emulator::LaneGroup& lanes) : lanes_(lanes.lane_mask()) {}
  void sync() const {
    if (lanes_) {
      ::__syncwarp(lanes_);
    } else {
      ::__syncthreads();
    }
  }
  unsigned thread_rank() const {
    return lanes_ ? emulator::LaneGroup(lanes_).thread_rank() : thread_block::thread_rank();
  }
  unsigned num_threads() const {
    return lanes_ ? emulator::LaneGroup(lanes_).num_threads() : thread_block::num_threads();
  }
  unsigned size() const { return num_threads(); }

 private:
  unsigned lanes_ = 0;  // 0: all of the block
};
inline thread_group tiled_partition(const thread_block&, unsigned size) {
  const unsigned lane = emulator::lane_index(), ones = size >= 32 ? 0xffffffffu : (1u << size) - 1;
  return thread_group(emulator::LaneGroup(ones << (lane / size * size)));
}

template <class Group>
inline void sync(const Group& group) {
  group.sync();
}
template <class Group>
inline auto thread_rank(const Group& group) {
  return group.thread_rank();
}
template <class Group>
inline auto group_size(const Group& group) {
  return group.size();
}

}  // namespace cooperative_groups
