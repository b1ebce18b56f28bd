// Who moves one token: a warp on the CUDA machine, a thread on the CPU machine. Kernels are written against this
// vocabulary, with one worker for a token at a time.
#pragma once
#if defined(CAUSEWAY_CPU)
#include <causeway/moe/cpu/lanes.hpp>
#else
#include <causeway/moe/cuda/lanes.hpp>
#endif
#include <causeway/moe/sizes.hpp>

namespace causeway::moe {

/// The caller's worker, and how many the grid has. Blocks are whole workers.
CAUSEWAY_DEVICE int workers_in_block() { return int(machine::threads_in_block() / Lanes{}.size()); }
CAUSEWAY_DEVICE int worker() {
  // Consecutive workers are in different blocks, so that little work is spread over many multiprocessors.
  const int in_block = int(machine::thread_in_block() / Lanes{}.size());
  return in_block * int(machine::blocks_in_grid()) + int(machine::block_in_grid());
}
CAUSEWAY_DEVICE int workers() { return workers_in_block() * int(machine::blocks_in_grid()); }

/// The bits of lower lanes.
CAUSEWAY_DEVICE uint32_t bits_below(Lanes lanes) { return (1u << lanes.rank()) - 1; }

/// The work on some rows. Each is split into a number of parts (a power of two), so that the grid has enough to do.
struct Parts {
  int shift = 0;
  /// For the grid without `busy` workers.
  CAUSEWAY_DEVICE explicit Parts(int rows, int busy = 0) {
    while (kLanesPerScale > 1 && shift < 3 && rows << (shift + 1) <= workers() - busy) ++shift;
  }
  CAUSEWAY_DEVICE int units(int rows) const { return rows << shift; }
  CAUSEWAY_DEVICE int row(int unit) const { return unit >> shift; }
  CAUSEWAY_DEVICE int part(int unit) const { return unit & ((1 << shift) - 1); }
  /// A unit's part of a row's `count` pieces.
  CAUSEWAY_DEVICE Run of(int count, int unit) const {
    return {(count * part(unit)) >> shift, (count * (part(unit) + 1)) >> shift};
  }
};

/// Takes the lowest number out of a set.
CAUSEWAY_DEVICE int take_lowest(uint32_t& bits) {
  const int lowest = lowest_bit(bits);
  bits &= bits - 1;
  return lowest;
}

}  // namespace causeway::moe
