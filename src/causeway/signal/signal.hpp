// Signals (OpenSHMEM 1.5, section 9.8) and point-to-point synchronisation (section 9.9) on one address.
#pragma once
#include <causeway/view/spin.hpp>
#include <causeway/rma/rma.hpp>
#include <causeway/signal/comparison.hpp>

#include <cstdint>

namespace causeway {

/// Updates the signal word at `pe`, ordered by nothing (the specification asks for none).
CAUSEWAY_DEVICE void signal_op(const DeviceWorld& world, uint64_t* word, uint64_t value, int operation, int pe) {
  if (operation == signal_add) {
    machine::add_relaxed_sys(at(world, word, pe), value);
  } else {
    machine::store_relaxed_sys(at(world, word, pe), value);
  }
}

/// Copies, then updates the signal word at the same PE: whoever sees the signal sees the data. The group's stores precede
/// its sync, the sync precedes the leader's release, and a release is cumulative: one fence a group.
template <class Group>
CAUSEWAY_DEVICE void put_signal(const DeviceWorld& world, Group group, void* dest, const void* source, size_t bytes,
                                uint64_t* word, uint64_t value, int operation, int pe) {
  put(world, group, dest, source, bytes, pe);
  if (!leads(group)) return;
  if (operation == signal_add) {
    machine::add_release_sys(at(world, word, pe), value);
  } else {
    machine::store_release_sys(at(world, word, pe), value);
  }
}

/// Waits until the caller's own `variable` compares so; everything that its writer released before is then visible.
/// Returns the value seen.
template <class T>
CAUSEWAY_DEVICE T wait_until(const DeviceWorld& world, const char* name, T* variable, int comparison, T value) {
  T last{};
  const auto describe = [&] {
    return WaitInfo{name, -1, variable, static_cast<uint64_t>(value), comparison_name(comparison)};
  };
  spin_until(world, describe, [&](uint64_t& seen, bool hurried) {
    const bool there = arrived(variable, last, hurried, [&](T now) { return compare(now, comparison, value); });
    seen = static_cast<uint64_t>(last);
    return there;
  });
  return last;
}

template <class T>
CAUSEWAY_DEVICE bool test(T* variable, int comparison, T value) {
  T seen{};
  const bool holds = arrived(variable, seen, false, [&](T now) { return compare(now, comparison, value); });
  if (!holds) machine::pause();  // callers loop around it
  return holds;
}

}  // namespace causeway
