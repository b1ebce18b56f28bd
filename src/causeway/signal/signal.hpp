// Signals (OpenSHMEM 1.5, section 9.8) and point-to-point synchronisation (section 9.9) on one address.
#pragma once
#include <causeway/rma/rma.hpp>
#include <causeway/signal/comparison.hpp>
#include <causeway/view/spin.hpp>

#include <cstdint>

namespace causeway {

/// Updates the signal word at `pe`, ordered by nothing (the specification asks for none).
struct SignalOp {
  uint64_t* word;
  uint64_t value;
  int operation, pe;

  static constexpr Kind kKind = Kind::update;
  static constexpr bool kFences = true;
  using Result = void;

  template <class C>
  CAUSEWAY_HOST_DEVICE void check(C& check) const {
    check.remote("sig_addr", word, sizeof *word, pe);
    check.aligned("sig_addr", word);
    check.range("sig_op", " is {}: must be NVSHMEM_SIGNAL_SET (9) or NVSHMEM_SIGNAL_ADD (10)", operation, signal_set,
                signal_add);
  }
  template <class Group>
  CAUSEWAY_DEVICE void run(const DeviceWorld& world, const char*, Group) const {
    if (operation == signal_add) {
      machine::add_relaxed_sys(at(world, word, pe), value);
    } else {
      machine::store_relaxed_sys(at(world, word, pe), value);
    }
  }
};

/// Copies, then updates the signal word at the same PE: whoever sees the signal sees the data. The group's stores
/// precede its sync, the sync precedes the leader's release, and a release is cumulative: one fence a group.
struct PutSignal {
  Put put;
  SignalOp signal;

  static constexpr Kind kKind = Kind::copy_and_signal;
  static constexpr bool kCompletes = true;
  using Result = void;

  template <class C>
  CAUSEWAY_HOST_DEVICE void check(C& check) const {
    signal.check(check);
    put.check(check);
  }
  template <class Group>
  CAUSEWAY_DEVICE void run(const DeviceWorld& world, const char* name, Group group) const {
    put.run(world, name, group);
    if (!leads(group)) return;
    if (signal.operation == signal_add) {
      machine::add_release_sys(at(world, signal.word, signal.pe), signal.value);
    } else {
      machine::store_release_sys(at(world, signal.word, signal.pe), signal.value);
    }
  }
  [[nodiscard]] CopyPlan plan(const DeviceWorld& world) const { return put.plan(world); }
};

namespace detail {

template <class C, class T>
CAUSEWAY_HOST_DEVICE void check_variables(C& check, const T* variables, size_t count, int comparison) {
  check.symmetric("ivar", variables, bytes_of(count, sizeof(T)));
  check.aligned("ivar", variables);
  check.range("cmp", " is {}: must be one of NVSHMEM_CMP_* (0 to 5)", comparison, cmp_eq, cmp_ge);
}

}  // namespace detail

// What looks at own words has, for hosts that look at copies of them: `variables()`, how many (`count()`), whether it
// waits (kWaits), look(found, holds), true when it has seen enough, and result(found, enough, seen).

/// Waits until the caller's own `variable` compares so; everything that its writer released before is then visible.
/// Gives the value seen.
template <class T>
struct WaitUntil {
  T* variable;
  int comparison;
  T value;

  static constexpr Kind kKind = Kind::wait;
  static constexpr bool kWaits = true;
  static constexpr const char* kName = "wait_until on a stream";
  using Result = T;

  template <class C>
  CAUSEWAY_HOST_DEVICE void check(C& check) const {
    detail::check_variables(check, variable, 1, comparison);
  }
  template <class Group>
  CAUSEWAY_DEVICE T run(const DeviceWorld& world, const char* name, Group) const {
    T last{};
    const auto describe = [&] {
      return WaitInfo{name, -1, variable, static_cast<uint64_t>(value), comparison_name(comparison)};
    };
    spin_until(world, describe, [&](uint64_t& seen, bool hurried) {
      const bool there = arrived(variable, last, hurried, Compared<T>{comparison, value});
      seen = static_cast<uint64_t>(last);
      return there;
    });
    return last;
  }
  [[nodiscard]] T* variables() const { return variable; }
  [[nodiscard]] size_t count() const { return 1; }
  [[nodiscard]] T value_of(size_t) const { return value; }
  template <class Holds>
  bool look(size_t&, Holds holds) const {
    return holds(0);
  }
  T result(size_t, bool, const T* seen) const { return seen[0]; }
};

/// Does it compare so now? What its writer released before is then visible.
template <class T>
struct Test {
  T* variable;
  int comparison;
  T value;

  static constexpr Kind kKind = Kind::wait;
  static constexpr bool kWaits = false;
  using Result = bool;

  template <class C>
  CAUSEWAY_HOST_DEVICE void check(C& check) const {
    detail::check_variables(check, variable, 1, comparison);
  }
  template <class Group>
  CAUSEWAY_DEVICE bool run(const DeviceWorld&, const char*, Group) const {
    T seen{};
    const bool holds = arrived(variable, seen, false, Compared<T>{comparison, value});
    if (!holds) machine::pause();  // callers loop around it
    return holds;
  }
  [[nodiscard]] T* variables() const { return variable; }
  [[nodiscard]] size_t count() const { return 1; }
  [[nodiscard]] T value_of(size_t) const { return value; }
  template <class Holds>
  bool look(size_t&, Holds holds) const {
    return holds(0);
  }
  bool result(size_t, bool holds, const T*) const { return holds; }
};

/// The caller's own signal word; what its writer released before is visible.
struct SignalFetch {
  uint64_t* word;

  static constexpr Kind kKind = Kind::wait;
  static constexpr bool kWaits = false;
  using Result = uint64_t;

  template <class C>
  CAUSEWAY_HOST_DEVICE void check(C& check) const {
    detail::check_variables(check, word, 1, cmp_eq);
  }
  template <class Group>
  CAUSEWAY_DEVICE uint64_t run(const DeviceWorld&, const char*, Group) const {
    return machine::load_acquire_sys(word);
  }
  [[nodiscard]] uint64_t* variables() const { return word; }
  [[nodiscard]] size_t count() const { return 1; }
  template <class Holds>
  bool look(size_t&, Holds) const {
    return true;
  }
  uint64_t result(size_t, bool, const uint64_t* seen) const { return seen[0]; }
};

}  // namespace causeway
