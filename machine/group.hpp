// Who takes part in an operation: one thread, a warp, a warpgroup or a block. Scope is an argument everywhere, never a name suffix.
#pragma once
#include <causeway/machine/machine.hpp>

namespace causeway {

struct Thread {
  CAUSEWAY_DEVICE unsigned rank() const { return 0; }
  CAUSEWAY_DEVICE unsigned size() const { return 1; }
  CAUSEWAY_DEVICE void sync() const {}
};

struct Warp {
  CAUSEWAY_DEVICE unsigned rank() const { return machine::thread_in_warp(); }
  CAUSEWAY_DEVICE unsigned size() const { return machine::threads_in_warp(); }
  CAUSEWAY_DEVICE void sync() const { machine::sync_warp(); }
};

/// Four warps.
struct Warpgroup {
  CAUSEWAY_DEVICE unsigned rank() const { return machine::thread_in_block() % 128; }
  CAUSEWAY_DEVICE unsigned size() const {
    const unsigned left = machine::threads_in_block() - machine::thread_in_block() / 128 * 128;
    return left < 128 ? left : 128;
  }
  CAUSEWAY_DEVICE void sync() const { machine::sync_warpgroup(); }
};

struct Block {
  CAUSEWAY_DEVICE unsigned rank() const { return machine::thread_in_block(); }
  CAUSEWAY_DEVICE unsigned size() const { return machine::threads_in_block(); }
  CAUSEWAY_DEVICE void sync() const { machine::sync_block(); }
};

template <class Group>
CAUSEWAY_DEVICE bool leads(Group group) {
  return group.rank() == 0;
}

}  // namespace causeway
