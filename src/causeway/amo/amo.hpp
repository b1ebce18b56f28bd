// Atomic memory operations (OpenSHMEM 1.5, section 9.7) on any PE's symmetric memory. They are atomic against each other,
// whoever calls them (kernels, streams, hosts) and whatever the type says about the sign; they order nothing.
#pragma once
#include <causeway/view/heap_view.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace causeway {

namespace detail {

/// The unsigned word of a type's size: the hardware has one atomic a width.
template <size_t Bytes>
struct AtomicWord;
template <>
struct AtomicWord<4> {
  using type = uint32_t;
};
template <>
struct AtomicWord<8> {
  using type = uint64_t;
};

template <class To, class From>
CAUSEWAY_DEVICE To same_bits(From from) {
  static_assert(sizeof(To) == sizeof(From), "same_bits keeps the size");
  To to;
  __builtin_memcpy(static_cast<void*>(&to), static_cast<const void*>(&from), sizeof to);
  return to;
}

}  // namespace detail

template <class T>
using AtomicWord = typename detail::AtomicWord<sizeof(T)>::type;

// Each operation by its place and operand; gives what was there before.
struct AtomicAdd {
  template <class T>
  CAUSEWAY_DEVICE static T apply(T* place, T value) {
    if constexpr (std::is_floating_point<T>::value) {
      return machine::atomic_add_sys(place, value);
    } else {
      using Word = AtomicWord<T>;
      return static_cast<T>(machine::atomic_add_sys(reinterpret_cast<Word*>(place), static_cast<Word>(value)));
    }
  }
};

#define CAUSEWAY_ATOMIC_OPERATION(Name, machine_name)                                             \
  struct Name {                                                                                   \
    template <class T>                                                                            \
    CAUSEWAY_DEVICE static T apply(T* place, T value) {                                           \
      using Word = AtomicWord<T>;                                                                 \
      return detail::same_bits<T>(                                                                \
          machine::machine_name(reinterpret_cast<Word*>(place), detail::same_bits<Word>(value))); \
    }                                                                                             \
  };
CAUSEWAY_ATOMIC_OPERATION(AtomicAnd, atomic_and_sys)
CAUSEWAY_ATOMIC_OPERATION(AtomicOr, atomic_or_sys)
CAUSEWAY_ATOMIC_OPERATION(AtomicXor, atomic_xor_sys)
CAUSEWAY_ATOMIC_OPERATION(AtomicSwap, atomic_exchange_sys)
#undef CAUSEWAY_ATOMIC_OPERATION

/// One update at `pe`; gives what was there (section 9.7: fetch_add, fetch_inc, fetch_and, ..., swap; and the forms
/// that fetch nothing).
template <class Operation, class T>
CAUSEWAY_DEVICE T atomic_update(const DeviceWorld& world, T* dest, T value, int pe) {
  return Operation::apply(at(world, dest, pe), value);
}

/// Stores `value` if the element at `pe` is `condition`; gives what was there (section 9.7.3).
template <class T>
CAUSEWAY_DEVICE T atomic_compare_swap(const DeviceWorld& world, T* dest, T condition, T value, int pe) {
  using Word = AtomicWord<T>;
  return static_cast<T>(machine::atomic_compare_exchange_sys(reinterpret_cast<Word*>(at(world, dest, pe)),
                                                             static_cast<Word>(condition), static_cast<Word>(value)));
}

template <class T>
CAUSEWAY_DEVICE T atomic_fetch(const DeviceWorld& world, const T* source, int pe) {
  using Word = AtomicWord<T>;
  return detail::same_bits<T>(machine::load_relaxed_sys(reinterpret_cast<const Word*>(at(world, source, pe))));
}

template <class T>
CAUSEWAY_DEVICE void atomic_set(const DeviceWorld& world, T* dest, T value, int pe) {
  using Word = AtomicWord<T>;
  machine::store_relaxed_sys(reinterpret_cast<Word*>(at(world, dest, pe)), detail::same_bits<Word>(value));
}

}  // namespace causeway
