// Atomic memory operations (OpenSHMEM 1.5, section 9.7) on any PE's symmetric memory. They are atomic against each
// other, whoever calls them (kernels, streams, hosts) and whatever the type says about the sign; they order nothing.
#pragma once
#include <causeway/base/word.hpp>
#include <causeway/view/operation.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace causeway {

/// The unsigned word of a type's size: the hardware has one atomic a width.
template <class T>
using AtomicWord = WordOf<sizeof(T)>;

// Each operation by its address and operand; gives what was there before.
struct AtomicAdd {
  template <class T>
  CAUSEWAY_DEVICE static T apply(T* address, T value) {
    if constexpr (std::is_floating_point<T>::value) {
      return machine::atomic_add_sys(address, value);
    } else {
      using Word = AtomicWord<T>;
      return static_cast<T>(machine::atomic_add_sys(reinterpret_cast<Word*>(address), static_cast<Word>(value)));
    }
  }
};

#define CAUSEWAY_ATOMIC_OPERATION(Name, machine_name)                                                       \
  struct Name {                                                                                             \
    template <class T>                                                                                      \
    CAUSEWAY_DEVICE static T apply(T* address, T value) {                                                   \
      using Word = AtomicWord<T>;                                                                           \
      return same_bits<T>(machine::machine_name(reinterpret_cast<Word*>(address), same_bits<Word>(value))); \
    }                                                                                                       \
  };
CAUSEWAY_ATOMIC_OPERATION(AtomicAnd, atomic_and_sys)
CAUSEWAY_ATOMIC_OPERATION(AtomicOr, atomic_or_sys)
CAUSEWAY_ATOMIC_OPERATION(AtomicXor, atomic_xor_sys)
CAUSEWAY_ATOMIC_OPERATION(AtomicSwap, atomic_exchange_sys)
#undef CAUSEWAY_ATOMIC_OPERATION

/// One update at `pe`; gives what was there (section 9.7: fetch_add, fetch_inc, fetch_and, ..., swap; and the forms
/// that fetch nothing).
template <class Operation, class T>
struct AtomicUpdate {
  T* dest;
  T value;
  int pe;

  static constexpr Kind kKind = Kind::update;
  static constexpr bool kFences = true;
  using Result = T;

  template <class C>
  CAUSEWAY_HOST_DEVICE void check(C& check) const {
    check.remote("dest", dest, sizeof(T), pe);
    check.aligned("dest", dest);
  }
  template <class Group>
  CAUSEWAY_DEVICE T run(const DeviceWorld& world, const char*, Group) const {
    return Operation::apply(at(world, dest, pe), value);
  }
};

/// Stores `value` if the element at `pe` is `condition`; gives what was there (section 9.7.3).
template <class T>
struct AtomicCompareSwap {
  T* dest;
  T condition, value;
  int pe;

  static constexpr Kind kKind = Kind::update;
  static constexpr bool kFences = true;
  using Result = T;

  template <class C>
  CAUSEWAY_HOST_DEVICE void check(C& check) const {
    check.remote("dest", dest, sizeof(T), pe);
    check.aligned("dest", dest);
  }
  template <class Group>
  CAUSEWAY_DEVICE T run(const DeviceWorld& world, const char*, Group) const {
    using Word = AtomicWord<T>;
    return static_cast<T>(machine::atomic_compare_exchange_sys(reinterpret_cast<Word*>(at(world, dest, pe)),
                                                               static_cast<Word>(condition), static_cast<Word>(value)));
  }
};

/// The element at `pe` (section 9.7.1).
template <class T>
struct AtomicFetch {
  const T* source;
  int pe;

  static constexpr Kind kKind = Kind::update;
  static constexpr bool kFences = false;
  using Result = T;

  template <class C>
  CAUSEWAY_HOST_DEVICE void check(C& check) const {
    check.remote("source", source, sizeof(T), pe);
    check.aligned("source", source);
  }
  template <class Group>
  CAUSEWAY_DEVICE T run(const DeviceWorld& world, const char*, Group) const {
    using Word = AtomicWord<T>;
    return same_bits<T>(machine::load_relaxed_sys(reinterpret_cast<const Word*>(at(world, source, pe))));
  }
};

/// Stores `value` at `pe` (section 9.7.4).
template <class T>
struct AtomicSet {
  T* dest;
  T value;
  int pe;

  static constexpr Kind kKind = Kind::update;
  static constexpr bool kFences = true;
  using Result = void;

  template <class C>
  CAUSEWAY_HOST_DEVICE void check(C& check) const {
    check.remote("dest", dest, sizeof(T), pe);
    check.aligned("dest", dest);
  }
  template <class Group>
  CAUSEWAY_DEVICE void run(const DeviceWorld& world, const char*, Group) const {
    using Word = AtomicWord<T>;
    machine::store_relaxed_sys(reinterpret_cast<Word*>(at(world, dest, pe)), same_bits<Word>(value));
  }
};

/// An operation whose result goes to the caller's `fetch` (section 9.7.2): by load and store it is there at once.
template <class Op>
struct Into {
  typename Op::Result* fetch;
  Op op;

  static constexpr Kind kKind = Op::kKind;
  static constexpr bool kFences = Op::kFences;
  using Result = void;

  template <class C>
  CAUSEWAY_HOST_DEVICE void check(C& check) const {
    check.result("fetch", fetch);
    op.check(check);
  }
  template <class Group>
  CAUSEWAY_DEVICE void run(const DeviceWorld& world, const char* name, Group group) const {
    *fetch = op.run(world, name, group);
  }
};

}  // namespace causeway
