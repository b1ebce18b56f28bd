// Host calls of the CUDA machine that wait, and atomics: atomics are one-thread kernels on the library's own stream, so that
// they are atomic against those of kernels; waits poll by copies, since the device may be busy with kernels.
#pragma once
#include <causeway/api/host/move.hpp>
#include <causeway/api/stream/sync.hpp>
#include <causeway/view/departures.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <thread>
#include <vector>

namespace causeway::host {

// ---------------------------------------------------------------- waits

template <class T>
T read_own(const T* variable) {
  T value{};
  machine_host::copy(&value, variable, sizeof value);
  return value;
}

/// Copies the variables again and again until ready(values) is true.
template <class T, class Ready>
void poll(const char* name, const DeviceWorld& world, T* variables, size_t count, Ready ready) {
  std::vector<T> values(count);
  const auto start = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point lost_since{};  // others may still come for a while (kLossPatienceNs)
  for (bool reported = false;; std::this_thread::yield()) {
    machine_host::copy(values.data(), variables, count * sizeof(T));
    if (ready(values)) return;
    if (const int lost = gone_for_host(world, -1); lost >= 0) {
      if (lost_since.time_since_epoch().count() == 0) lost_since = std::chrono::steady_clock::now();
      if (std::chrono::steady_clock::now() - lost_since > std::chrono::nanoseconds(kLossPatienceNs))
        fail(Status::internal, "gave up the wait on {} variable(s) at heap offset {:#x} (the first seen as {}): {}",
             count, heap_offset(world, variables), values[0], describe_gone(world, lost));
    }
    const auto waited = uint64_t(std::chrono::nanoseconds(std::chrono::steady_clock::now() - start).count());
    const uint64_t place = heap_offset(world, variables);
    if (world.wait_timeout_ns && waited > world.wait_timeout_ns)
      fail(Status::internal, "gave up the wait on {} variable(s) at heap offset {:#x} (the first seen as {})", count,
           place, values[0]);
    if (!reported && world.wait_report_ns && waited > world.wait_report_ns) {
      std::fprintf(stderr, "causeway: PE %d: %s: long wait on %zu variable(s) at heap offset %#llx\n", world.pe, name,
                   count, static_cast<unsigned long long>(place));
      reported = true;
    }
  }
}

template <class T>
T poll_until(const char* name, T* variable, int comparison, T value) {
  T seen{};
  guard(name, [&] {
    const DeviceWorld& world = check_wait(name, variable, sizeof(T), comparison);
    poll(name, world, variable, 1,
         [&](const std::vector<T>& values) { return compare(seen = values[0], comparison, value); });
  });
  return seen;
}
template <class T>
void wait_until(const char* name, T* variable, int comparison, T value) {
  poll_until(name, variable, comparison, value);
}
template <class T>
int test(const char* name, T* variable, int comparison, T value) {
  bool holds = false;
  guard(name, [&] {
    check_wait(name, variable, sizeof(T), comparison);
    holds = compare(read_own(variable), comparison, value);
  });
  return holds;
}
inline uint64_t signal_wait_until(const char* name, uint64_t* word, int comparison, uint64_t value) {
  return poll_until(name, word, comparison, value);
}
inline uint64_t signal_fetch(const char* name, uint64_t* word) {
  uint64_t value = 0;
  guard(name, [&] {
    check_wait(name, word, sizeof *word, 0);
    value = read_own(word);
  });
  return value;
}

/// The numbers of those that take part and compare so.
template <class T, class Value>
std::vector<size_t> holding(const std::vector<T>& seen, const int* status, int comparison, Value value) {
  std::vector<size_t> found;
  for (size_t i = 0; i < seen.size(); ++i)
    if ((!status || status[i] == 0) && compare(seen[i], comparison, value(i))) found.push_back(i);
  return found;
}
inline size_t taking_part(size_t count, const int* status) {
  size_t parts = 0;
  for (size_t i = 0; i < count; ++i) parts += !status || status[i] == 0;
  return parts;
}

/// Those of the variables that hold: at once, or as soon as there are `least`; none if nobody takes part.
template <class T, class Value>
std::vector<size_t> find(const char* name, bool waits, size_t least, T* variables, size_t count, const int* status,
                         int comparison, Value value) {
  std::vector<size_t> found;
  guard(name, [&] {
    const DeviceWorld& world = check_waits(name, variables, count, sizeof(T), comparison);
    if (taking_part(count, status) == 0) return;
    poll(name, world, variables, count, [&](const std::vector<T>& seen) {
      found = holding(seen, status, comparison, value);
      return !waits || found.size() >= least;
    });
  });
  return found;
}
/// Another one each time, so that a program which asks again and again meets all.
inline size_t one_of(const std::vector<size_t>& found) {
  static std::atomic<size_t> calls{0};
  return found.empty() ? ~size_t{0} : found[calls.fetch_add(1, std::memory_order_relaxed) % found.size()];
}
inline size_t give(const std::vector<size_t>& found, size_t* indices) {
  for (size_t i = 0; i < found.size(); ++i) indices[i] = found[i];
  return found.size();
}

// (As on the device, wait_until_all may look at one variable after the other: what held once need not hold at the end.)
#define CAUSEWAY_HOST_WAITS(suffix, ValueArgument, value_of)                                                          \
  template <class T>                                                                                                  \
  void wait_until_all##suffix(const char* name, T* variables, size_t count, const int* status, int comparison,        \
                              ValueArgument value) {                                                                  \
    guard(name, [&] {                                                                                                 \
      check_waits(name, variables, count, sizeof(T), comparison);                                                     \
      for (size_t i = 0; i < count; ++i)                                                                              \
        if (!status || status[i] == 0) poll_until(name, variables + i, comparison, T(value_of(i)));                   \
    });                                                                                                               \
  }                                                                                                                   \
  template <class T>                                                                                                  \
  size_t wait_until_any##suffix(const char* name, T* variables, size_t count, const int* status, int comparison,      \
                                ValueArgument value) {                                                                \
    return one_of(find(name, true, 1, variables, count, status, comparison, [&](size_t i) { return value_of(i); }));  \
  }                                                                                                                   \
  template <class T>                                                                                                  \
  size_t wait_until_some##suffix(const char* name, T* variables, size_t count, size_t* indices, const int* status,    \
                                 int comparison, ValueArgument value) {                                               \
    return give(find(name, true, 1, variables, count, status, comparison, [&](size_t i) { return value_of(i); }),     \
                indices);                                                                                             \
  }                                                                                                                   \
  template <class T>                                                                                                  \
  int test_all##suffix(const char* name, T* variables, size_t count, const int* status, int comparison,               \
                       ValueArgument value) {                                                                         \
    bool all = false;                                                                                                 \
    guard(name, [&] {                                                                                                 \
      check_waits(name, variables, count, sizeof(T), comparison);                                                     \
      all = find(name, false, 0, variables, count, status, comparison, [&](size_t i) {                                \
              return value_of(i);                                                                                     \
            }).size() == taking_part(count, status);                                                                  \
    });                                                                                                               \
    return all;                                                                                                       \
  }                                                                                                                   \
  template <class T>                                                                                                  \
  size_t test_any##suffix(const char* name, T* variables, size_t count, const int* status, int comparison,            \
                          ValueArgument value) {                                                                      \
    return one_of(find(name, false, 0, variables, count, status, comparison, [&](size_t i) { return value_of(i); })); \
  }                                                                                                                   \
  template <class T>                                                                                                  \
  size_t test_some##suffix(const char* name, T* variables, size_t count, size_t* indices, const int* status,          \
                           int comparison, ValueArgument value) {                                                     \
    return give(find(name, false, 0, variables, count, status, comparison, [&](size_t i) { return value_of(i); }),    \
                indices);                                                                                             \
  }
#define CAUSEWAY_SAME(i) ((void)(i), value)
#define CAUSEWAY_OF_EACH(i) value[i]
CAUSEWAY_HOST_WAITS(, T, CAUSEWAY_SAME)
CAUSEWAY_HOST_WAITS(_vector, const T*, CAUSEWAY_OF_EACH)
#undef CAUSEWAY_SAME
#undef CAUSEWAY_OF_EACH
#undef CAUSEWAY_HOST_WAITS

// ---------------------------------------------------------------- atomics

/// Runs `launch` with a place that the device can write to, waits, and gives what it wrote there.
template <class T, class Launch>
T fetched(const char* name, Launch launch) {
  T value{};
  guard(name, [&] {
    auto* place = static_cast<T*>(machine_host::fetch_place());
    launch(place, own(name));
    machine_host::synchronize(own(name));
    value = *static_cast<volatile T*>(place);
  });
  return value;
}

template <class Operation, class T>
T atomic_update(const char* name, Operation, T* dest, T value, int pe) {
  return fetched<T>(name,
                    [&](T* fetch, Stream stream) { launch_update<Operation>(name, fetch, dest, value, pe, stream); });
}
template <class T>
T atomic_compare_swap(const char* name, T* dest, T condition, T value, int pe) {
  return fetched<T>(
      name, [&](T* fetch, Stream stream) { launch_compare_swap(name, fetch, dest, condition, value, pe, stream); });
}
template <class T>
T atomic_fetch(const char* name, const T* source, int pe) {
  return fetched<T>(name, [&](T* fetch, Stream stream) { launch_fetch(name, fetch, source, pe, stream); });
}
template <class T>
void atomic_set(const char* name, T* dest, T value, int pe) {
  guard(name, [&] { atomic_set_on_stream(name, dest, value, pe, own(name)); });
}

// The place of a host call's result may be any host memory, which kernels need not reach: it is there on return.
template <class Operation, class T>
void atomic_update_nbi(const char* name, Operation operation, T* fetch, T* dest, T value, int pe) {
  guard(name, [&] {
    check_fetch(name, fetch);
    check_atomic(name, "dest", dest, pe);
    *fetch = atomic_update(name, operation, dest, value, pe);
  });
}
template <class T>
void atomic_compare_swap_nbi(const char* name, T* fetch, T* dest, T condition, T value, int pe) {
  guard(name, [&] {
    check_fetch(name, fetch);
    check_atomic(name, "dest", dest, pe);
    *fetch = atomic_compare_swap(name, dest, condition, value, pe);
  });
}
template <class T>
void atomic_fetch_nbi(const char* name, T* fetch, const T* source, int pe) {
  guard(name, [&] {
    check_fetch(name, fetch);
    check_atomic(name, "source", source, pe);
    *fetch = atomic_fetch(name, source, pe);
  });
}

// ---------------------------------------------------------------- queries

inline int my_pe(const char*) { return own_pe(); }
inline int n_pes(const char*) { return all_pes(); }
inline void* ptr(const char*, const void* dest, int pe) { return reachable(dest, pe); }

inline int team_my_pe(const char*, int team) { return number_of(known_members(team), own_pe()); }
inline int team_n_pes(const char*, int team) {
  const Members members = known_members(team);
  return members.empty() ? -1 : int(members.size());
}
inline int team_translate_pe(const char*, int from, int pe, int to) {
  const Members source = known_members(from);
  return pe < 0 || pe >= int(source.size()) ? -1 : number_of(known_members(to), source[size_t(pe)]);
}

inline void info_get_version(const char*, int* major, int* minor) {
  *major = NVSHMEM_MAJOR_VERSION;
  *minor = NVSHMEM_MINOR_VERSION;
}
inline void info_get_name(const char*, char* name) { std::strcpy(name, NVSHMEM_VENDOR_STRING); }
inline void vendor_version(const char*, int* major, int* minor, int* patch) {
  *major = NVSHMEM_VENDOR_MAJOR_VERSION;
  *minor = NVSHMEM_VENDOR_MINOR_VERSION;
  *patch = NVSHMEM_VENDOR_PATCH_VERSION;
}
inline void* mc_ptr(const char*, int, const void*) { return nullptr; }

}  // namespace causeway::host
