// Waits and tests on many variables (OpenSHMEM 1.5, sections 9.9.2-7 and 9.9.9-14). Variables whose status is not 0 are left
// out. `value(i)` is what variable i is compared with: one value for all, or an element of a vector.
#pragma once
#include <causeway/signal/signal.hpp>

#include <cstddef>
#include <cstdint>

namespace causeway {

constexpr size_t kNoneOfThem = ~size_t{0};  // SIZE_MAX, as the specification has it

template <class T>
CAUSEWAY_DEVICE bool holds(T* variable, int comparison, T value) {
  T seen{};
  return arrived(variable, seen, false, [&](T now) { return compare(now, comparison, value); });
}

CAUSEWAY_DEVICE bool takes_part(const int* status, size_t i) { return !status || status[i] == 0; }

/// One that holds; kNoneOfThem if none does. It begins anywhere, so that a program which asks again and again meets all.
template <class T, class Value>
CAUSEWAY_DEVICE size_t find_any(T* variables, size_t count, const int* status, int comparison, Value value) {
  const size_t first = count > 0 ? machine::varying() % count : 0;
  for (size_t k = 0; k < count; ++k) {
    const size_t i = first + k < count ? first + k : first + k - count;
    if (takes_part(status, i) && holds(variables + i, comparison, value(i))) return i;
  }
  return kNoneOfThem;
}
/// All that hold, in order, to `indices`; how many.
template <class T, class Value>
CAUSEWAY_DEVICE size_t find_some(T* variables, size_t count, size_t* indices, const int* status, int comparison,
                                 Value value) {
  size_t found = 0;
  for (size_t i = 0; i < count; ++i)
    if (takes_part(status, i) && holds(variables + i, comparison, value(i))) indices[found++] = i;
  return found;
}
CAUSEWAY_DEVICE bool nobody_takes_part(size_t count, const int* status) {
  for (size_t i = 0; i < count; ++i)
    if (takes_part(status, i)) return false;
  return true;
}

/// Waits until all hold, one after the other: what held once need not hold at the end (as in the specification).
template <class T, class Value>
CAUSEWAY_DEVICE void wait_until_all(const DeviceWorld& world, const char* name, T* variables, size_t count,
                                    const int* status, int comparison, Value value) {
  for (size_t i = 0; i < count; ++i)
    if (takes_part(status, i)) wait_until(world, name, variables + i, comparison, value(i));
}

namespace detail {

/// Polls find() until it gives a result other than `nothing`.
template <class T, class Find>
CAUSEWAY_DEVICE size_t poll(const DeviceWorld& world, const char* name, T* variables, T first_value, int comparison,
                            size_t nothing, Find find) {
  size_t found = nothing;
  const auto describe = [&] {
    return WaitInfo{name, -1, variables, static_cast<uint64_t>(first_value), comparison_name(comparison)};
  };
  spin_until(world, describe, [&](uint64_t& seen, bool) {
    found = find();
    seen = static_cast<uint64_t>(machine::load_relaxed_sys(variables));
    return found != nothing;
  });
  return found;
}

}  // namespace detail

/// Waits until one holds and gives its number; kNoneOfThem at once if none takes part.
template <class T, class Value>
CAUSEWAY_DEVICE size_t wait_until_any(const DeviceWorld& world, const char* name, T* variables, size_t count,
                                      const int* status, int comparison, Value value) {
  if (nobody_takes_part(count, status)) return kNoneOfThem;
  return detail::poll(world, name, variables, value(0), comparison, kNoneOfThem,
                      [&] { return find_any(variables, count, status, comparison, value); });
}

/// Waits until one or more hold; their numbers to `indices`. 0 at once if none takes part.
template <class T, class Value>
CAUSEWAY_DEVICE size_t wait_until_some(const DeviceWorld& world, const char* name, T* variables, size_t count,
                                       size_t* indices, const int* status, int comparison, Value value) {
  if (nobody_takes_part(count, status)) return 0;
  return detail::poll(world, name, variables, value(0), comparison, 0,
                      [&] { return find_some(variables, count, indices, status, comparison, value); });
}

template <class T, class Value>
CAUSEWAY_DEVICE bool test_all(T* variables, size_t count, const int* status, int comparison, Value value) {
  bool all = true;
  for (size_t i = 0; i < count && all; ++i) all = !takes_part(status, i) || holds(variables + i, comparison, value(i));
  if (!all) machine::pause();  // callers loop around it
  return all;
}
template <class T, class Value>
CAUSEWAY_DEVICE size_t test_any(T* variables, size_t count, const int* status, int comparison, Value value) {
  const size_t found = find_any(variables, count, status, comparison, value);
  if (found == kNoneOfThem) machine::pause();
  return found;
}
template <class T, class Value>
CAUSEWAY_DEVICE size_t test_some(T* variables, size_t count, size_t* indices, const int* status, int comparison,
                                 Value value) {
  const size_t found = find_some(variables, count, indices, status, comparison, value);
  if (found == 0) machine::pause();
  return found;
}

}  // namespace causeway
