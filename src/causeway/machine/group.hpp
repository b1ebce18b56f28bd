// Who takes part in an operation: one thread, a warp, a warpgroup or a block. Scope is an argument everywhere, never a
// name suffix.
#pragma once
#include <causeway/base/numbers.hpp>
#include <causeway/machine/machine.hpp>

#include <cstddef>

namespace causeway {

using machine::copy;  // by a group

struct Thread {
  static constexpr bool kOneThread = true;
  CAUSEWAY_DEVICE unsigned rank() const { return 0; }
  CAUSEWAY_DEVICE unsigned size() const { return 1; }
  CAUSEWAY_DEVICE void sync() const {}
};

struct Warp {
  static constexpr bool kOneThread = false;
  CAUSEWAY_DEVICE unsigned rank() const { return machine::thread_in_warp(); }
  CAUSEWAY_DEVICE unsigned size() const { return machine::threads_in_warp(); }
  CAUSEWAY_DEVICE void sync() const { machine::sync_warp(); }
};

/// Four warps.
struct Warpgroup {
  static constexpr bool kOneThread = false;
  CAUSEWAY_DEVICE unsigned rank() const { return machine::thread_in_block() % 128; }
  CAUSEWAY_DEVICE unsigned size() const {
    const unsigned left = machine::threads_in_block() - machine::thread_in_block() / 128 * 128;
    return left < 128 ? left : 128;
  }
  CAUSEWAY_DEVICE void sync() const { machine::sync_warpgroup(); }
};

struct Block {
  static constexpr bool kOneThread = false;
  CAUSEWAY_DEVICE unsigned rank() const { return machine::thread_in_block(); }
  CAUSEWAY_DEVICE unsigned size() const { return machine::threads_in_block(); }
  CAUSEWAY_DEVICE void sync() const { machine::sync_block(); }
};

/// count * size; where sizes are checked, what is too much stays too much instead of wrapping around.
CAUSEWAY_HOST_DEVICE constexpr size_t bytes_of(size_t count, size_t size) {
#if defined(CAUSEWAY_LIBRARY)
  constexpr bool checks = true;
#else
  constexpr bool checks = machine::kChecks;
#endif
  return checks ? capped_product(count, size) : count * size;
}

template <class Group>
CAUSEWAY_DEVICE bool leads(Group group) {
  return group.rank() == 0;
}

}  // namespace causeway
