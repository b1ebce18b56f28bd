// Signals and waits (see dispatch.hpp).
#pragma once
#include <causeway/api/check.hpp>
#include <causeway/view/unit.hpp>
#include <causeway/signal/signal.hpp>
#include <causeway/signal/wait_many.hpp>

#include <cstddef>
#include <cstdint>

namespace causeway::api {

CAUSEWAY_DEVICE bool check_signal(const DeviceWorld& world, const char* name, uint64_t* word, int operation, int pe) {
  return check_remote(world, name, kSignalSymmetric, word, sizeof *word, pe) &&
         check_aligned(world, name, kSignalAligned, word) &&
         check_range(world, name, "sig_op is {}: must be NVSHMEM_SIGNAL_SET (9) or NVSHMEM_SIGNAL_ADD (10)", operation,
                     signal_set, signal_add);
}

template <class Group>
CAUSEWAY_DEVICE void put_signal(const char* name, Group group, void* dest, const void* source, size_t bytes,
                                uint64_t* word, uint64_t value, int operation, int pe) {
  const DeviceWorld& world = unit::world();
  if (!check_signal(world, name, word, operation, pe) || !check_remote(world, name, kDestSymmetric, dest, bytes, pe))
    return;
  causeway::put_signal(world, group, dest, source, bytes, word, value, operation, pe);
}

template <class Group>
CAUSEWAY_DEVICE void put_signal_nbi(const char* name, Group group, void* dest, const void* source, size_t bytes,
                                    uint64_t* word, uint64_t value, int operation, int pe) {
  put_signal(name, group, dest, source, bytes, word, value, operation, pe);
}

CAUSEWAY_DEVICE void signal_op(const char* name, Thread, uint64_t* word, uint64_t value, int operation, int pe) {
  const DeviceWorld& world = unit::world();
  if (check_signal(world, name, word, operation, pe)) causeway::signal_op(world, word, value, operation, pe);
}

template <class T>
CAUSEWAY_DEVICE bool check_wait(const DeviceWorld& world, const char* name, const T* variable, int comparison) {
  return check_symmetric(world, name, kVariableSymmetric, variable, sizeof(T)) &&
         check_aligned(world, name, kVariableAligned, variable) &&
         check_range(world, name, "cmp is {}: must be one of NVSHMEM_CMP_* (0 to 5)", comparison, cmp_eq, cmp_ge);
}

template <class T>
CAUSEWAY_DEVICE void wait_until(const char* name, Thread, T* variable, int comparison, T value) {
  const DeviceWorld& world = unit::world();
  if (check_wait(world, name, variable, comparison)) causeway::wait_until(world, name, variable, comparison, value);
}

template <class T>
CAUSEWAY_DEVICE int test(const char* name, Thread, T* variable, int comparison, T value) {
  return check_wait(unit::world(), name, variable, comparison) && causeway::test(variable, comparison, value);
}

CAUSEWAY_DEVICE uint64_t signal_wait_until(const char* name, Thread, uint64_t* word, int comparison, uint64_t value) {
  const DeviceWorld& world = unit::world();
  if (!check_wait(world, name, word, comparison)) return 0;
  return causeway::wait_until(world, name, word, comparison, value);
}

CAUSEWAY_DEVICE uint64_t signal_fetch(const char* name, Thread, uint64_t* word) {
  if (!check_wait(unit::world(), name, word, cmp_eq)) return 0;
  return machine::load_acquire_sys(word);
}

// ---------------------------------------------------------------- many variables

template <class T>
CAUSEWAY_DEVICE bool check_waits(const DeviceWorld& world, const char* name, const T* variables, size_t count,
                                 int comparison) {
  return check_symmetric(world, name, kVariableSymmetric, variables, count * sizeof(T)) &&
         check_aligned(world, name, kVariableAligned, variables) &&
         check_range(world, name, "cmp is {}: must be one of NVSHMEM_CMP_* (0 to 5)", comparison, cmp_eq, cmp_ge);
}

/// One value for all variables, or an element of a vector for each.
template <class T>
struct SameValue {
  T value;
  CAUSEWAY_DEVICE T operator()(size_t) const { return value; }
};
template <class T>
struct ValueOfEach {
  const T* values;
  CAUSEWAY_DEVICE T operator()(size_t i) const { return values[i]; }
};

#define CAUSEWAY_WAITS(suffix, Value, ValueArgument)                                                                   \
  template <class T>                                                                                                   \
  CAUSEWAY_DEVICE void wait_until_all##suffix(const char* name, Thread, T* variables, size_t count, const int* status, \
                                              int comparison, ValueArgument value) {                                   \
    const DeviceWorld& world = unit::world();                                                                          \
    if (check_waits(world, name, variables, count, comparison))                                                        \
      causeway::wait_until_all(world, name, variables, count, status, comparison, Value<T>{value});                    \
  }                                                                                                                    \
  template <class T>                                                                                                   \
  CAUSEWAY_DEVICE size_t wait_until_any##suffix(const char* name, Thread, T* variables, size_t count,                  \
                                                const int* status, int comparison, ValueArgument value) {              \
    const DeviceWorld& world = unit::world();                                                                          \
    if (!check_waits(world, name, variables, count, comparison)) return kNoneOfThem;                                   \
    return causeway::wait_until_any(world, name, variables, count, status, comparison, Value<T>{value});               \
  }                                                                                                                    \
  template <class T>                                                                                                   \
  CAUSEWAY_DEVICE size_t wait_until_some##suffix(const char* name, Thread, T* variables, size_t count,                 \
                                                 size_t* indices, const int* status, int comparison,                   \
                                                 ValueArgument value) {                                                \
    const DeviceWorld& world = unit::world();                                                                          \
    if (!check_waits(world, name, variables, count, comparison)) return 0;                                             \
    return causeway::wait_until_some(world, name, variables, count, indices, status, comparison, Value<T>{value});     \
  }                                                                                                                    \
  template <class T>                                                                                                   \
  CAUSEWAY_DEVICE int test_all##suffix(const char* name, Thread, T* variables, size_t count, const int* status,        \
                                       int comparison, ValueArgument value) {                                          \
    return check_waits(unit::world(), name, variables, count, comparison) &&                                           \
           causeway::test_all(variables, count, status, comparison, Value<T>{value});                                  \
  }                                                                                                                    \
  template <class T>                                                                                                   \
  CAUSEWAY_DEVICE size_t test_any##suffix(const char* name, Thread, T* variables, size_t count, const int* status,     \
                                          int comparison, ValueArgument value) {                                       \
    if (!check_waits(unit::world(), name, variables, count, comparison)) return kNoneOfThem;                           \
    return causeway::test_any(variables, count, status, comparison, Value<T>{value});                                  \
  }                                                                                                                    \
  template <class T>                                                                                                   \
  CAUSEWAY_DEVICE size_t test_some##suffix(const char* name, Thread, T* variables, size_t count, size_t* indices,      \
                                           const int* status, int comparison, ValueArgument value) {                   \
    if (!check_waits(unit::world(), name, variables, count, comparison)) return 0;                                     \
    return causeway::test_some(variables, count, indices, status, comparison, Value<T>{value});                        \
  }
CAUSEWAY_WAITS(, SameValue, T)
CAUSEWAY_WAITS(_vector, ValueOfEach, const T*)
#undef CAUSEWAY_WAITS

}  // namespace causeway::api
