// fence and quiet (OpenSHMEM 1.5, section 9.10).
#pragma once
#include <causeway/view/operation.hpp>

namespace causeway {

/// Orders the caller's earlier stores to each PE before its later ones.
CAUSEWAY_DEVICE void fence(const DeviceWorld&) { machine::fence_acq_rel_sys(); }

/// Completes the caller's earlier stores: they are visible to every PE. Sequentially consistent, since quiet must also
/// keep a later load from passing an earlier store (store buffering).
CAUSEWAY_DEVICE void quiet(const DeviceWorld&) { machine::fence_sc_sys(); }

struct Fence {
  static constexpr Kind kKind = Kind::fence;
  using Result = void;
  template <class C>
  CAUSEWAY_HOST_DEVICE void check(C&) const {}
  template <class Group>
  CAUSEWAY_DEVICE void run(const DeviceWorld& world, const char*, Group) const {
    fence(world);
  }
};

struct Quiet {
  static constexpr Kind kKind = Kind::quiet;
  using Result = void;
  template <class C>
  CAUSEWAY_HOST_DEVICE void check(C&) const {}
  template <class Group>
  CAUSEWAY_DEVICE void run(const DeviceWorld& world, const char*, Group) const {
    quiet(world);
  }
};

}  // namespace causeway
