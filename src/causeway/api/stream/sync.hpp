// Waits and atomics on a stream: one-thread kernels.
#pragma once
#include <causeway/amo/amo.hpp>
#include <causeway/api/guard.hpp>
#include <causeway/api/host/check.hpp>
#include <causeway/coll/combine.hpp>
#include <causeway/machine/launch.hpp>
#include <causeway/order/order.hpp>
#include <causeway/host/machine_host.hpp>
#include <causeway/signal/wait_many.hpp>

#include <cstdint>

namespace causeway::host {

using Stream = machine_host::Stream;
/// What a comparison is compiled for: width and sign.
template <class T>
using Compared = typename Canonical<Min, T>::type;
/// What an atomic is compiled for: width, or a floating-point type.
template <class T>
using Updated = typename Canonical<Sum, T>::type;

// ---------------------------------------------------------------- waits

template <class T>
struct WaitKernel {
  DeviceWorld world;
  T* variable;
  int comparison;
  T value;
  CAUSEWAY_DEVICE void operator()() const {
    causeway::wait_until(world, "wait_until on a stream", variable, comparison, value);
  }
};

template <class T>
struct WaitAllKernel {
  DeviceWorld world;
  T* variables;
  size_t count;
  const int* status;
  int comparison;
  T value;
  const T* values;  // null: value for all
  CAUSEWAY_DEVICE void operator()() const {
    causeway::wait_until_all(world, "wait_until_all on a stream", variables, count, status, comparison,
                             [&](size_t i) { return values ? values[i] : value; });
  }
};

template <class T>
void wait_until_on_stream(const char* name, T* variable, int comparison, T value, Stream stream) {
  using Plain = Compared<T>;
  guard(name, [&] {
    const DeviceWorld& world = check_wait(name, variable, sizeof(T), comparison);
    machine::launch(WaitKernel<Plain>{world, reinterpret_cast<Plain*>(variable), comparison, static_cast<Plain>(value)},
                    1, 1, stream);
  });
}
inline void signal_wait_until_on_stream(const char* name, uint64_t* word, int comparison, uint64_t value,
                                        Stream stream) {
  wait_until_on_stream(name, word, comparison, value, stream);
}

template <class T>
void wait_all_on_stream(const char* name, T* variables, size_t count, const int* status, int comparison, T value,
                        const T* values, Stream stream) {
  using Plain = Compared<T>;
  guard(name, [&] {
    const DeviceWorld& world = check_waits(name, variables, count, sizeof(T), comparison);
    if (count == 0) return;
    check_device_memory(name, "status", status);
    check_device_memory(name, "values", values);
    machine::launch(WaitAllKernel<Plain>{world, reinterpret_cast<Plain*>(variables), count, status, comparison,
                                         static_cast<Plain>(value), reinterpret_cast<const Plain*>(values)},
                    1, 1, stream);
  });
}
template <class T>
void wait_until_all_on_stream(const char* name, T* variables, size_t count, const int* status, int comparison, T value,
                              Stream stream) {
  wait_all_on_stream(name, variables, count, status, comparison, value, static_cast<const T*>(nullptr), stream);
}
template <class T>
void wait_until_all_vector_on_stream(const char* name, T* variables, size_t count, const int* status, int comparison,
                                     T* values, Stream stream) {
  wait_all_on_stream(name, variables, count, status, comparison, T{}, static_cast<const T*>(values), stream);
}

// ---------------------------------------------------------------- atomics, after a fence as in move.hpp. `fetch` may be null:
// nothing is fetched.

template <class Operation, class T>
struct UpdateKernel {
  DeviceWorld world;
  T *fetch, *dest, value;
  int pe;
  CAUSEWAY_DEVICE void operator()() const {
    fence(world);
    const T before = causeway::atomic_update<Operation>(world, dest, value, pe);
    if (fetch) *fetch = before;
  }
};
template <class T>
struct CompareSwapKernel {
  DeviceWorld world;
  T *fetch, *dest, condition, value;
  int pe;
  CAUSEWAY_DEVICE void operator()() const {
    fence(world);
    *fetch = causeway::atomic_compare_swap(world, dest, condition, value, pe);
  }
};
template <class T>
struct FetchKernel {
  DeviceWorld world;
  T* fetch;
  const T* source;
  int pe;
  CAUSEWAY_DEVICE void operator()() const { *fetch = causeway::atomic_fetch(world, source, pe); }
};
template <class T>
struct SetKernel {
  DeviceWorld world;
  T *dest, value;
  int pe;
  CAUSEWAY_DEVICE void operator()() const {
    fence(world);
    causeway::atomic_set(world, dest, value, pe);
  }
};

template <class T>
const DeviceWorld& check_atomic(const char* name, const char* argument, const T* place, int pe) {
  const DeviceWorld& world = check_remote_by_kernel(name, argument, place, sizeof(T), pe);
  check_alignment(name, argument, place, sizeof(T));
  return world;
}
template <class T>
void check_fetch(const char* name, const T* fetch) {
  if (!fetch) fail(Status::invalid_value, "fetch is null: must be a place for an element");
  check_alignment(name, "fetch", fetch, sizeof(T));
}

// Unguarded, for host calls too: they hand over memory of their own as `fetch`.
template <class Operation, class T>
void launch_update(const char* name, T* fetch, T* dest, T value, int pe, Stream stream) {
  using Plain = Updated<T>;
  const DeviceWorld& world = check_atomic(name, "dest", dest, pe);
  machine::launch(UpdateKernel<Operation, Plain>{world, reinterpret_cast<Plain*>(fetch), reinterpret_cast<Plain*>(dest),
                                                 static_cast<Plain>(value), pe},
                  1, 1, stream);
}
template <class T>
void launch_compare_swap(const char* name, T* fetch, T* dest, T condition, T value, int pe, Stream stream) {
  using Plain = Updated<T>;
  const DeviceWorld& world = check_atomic(name, "dest", dest, pe);
  machine::launch(CompareSwapKernel<Plain>{world, reinterpret_cast<Plain*>(fetch), reinterpret_cast<Plain*>(dest),
                                           static_cast<Plain>(condition), static_cast<Plain>(value), pe},
                  1, 1, stream);
}
template <class T>
void launch_fetch(const char* name, T* fetch, const T* source, int pe, Stream stream) {
  using Plain = Updated<T>;
  const DeviceWorld& world = check_atomic(name, "source", source, pe);
  machine::launch(
      FetchKernel<Plain>{world, reinterpret_cast<Plain*>(fetch), reinterpret_cast<const Plain*>(source), pe}, 1, 1,
      stream);
}

template <class Operation, class T>
void atomic_update_on_stream(const char* name, Operation, T* dest, T value, int pe, Stream stream) {
  guard(name, [&] { launch_update<Operation>(name, static_cast<T*>(nullptr), dest, value, pe, stream); });
}
template <class T>
void atomic_set_on_stream(const char* name, T* dest, T value, int pe, Stream stream) {
  using Plain = Updated<T>;
  guard(name, [&] {
    const DeviceWorld& world = check_atomic(name, "dest", dest, pe);
    machine::launch(SetKernel<Plain>{world, reinterpret_cast<Plain*>(dest), static_cast<Plain>(value), pe}, 1, 1,
                    stream);
  });
}
template <class Operation, class T>
void atomic_update_nbi_on_stream(const char* name, Operation, T* fetch, T* dest, T value, int pe, Stream stream) {
  guard(name, [&] {
    check_fetch(name, fetch);
    check_device_memory(name, "fetch", fetch);
    launch_update<Operation>(name, fetch, dest, value, pe, stream);
  });
}
template <class T>
void atomic_compare_swap_nbi_on_stream(const char* name, T* fetch, T* dest, T condition, T value, int pe,
                                       Stream stream) {
  guard(name, [&] {
    check_fetch(name, fetch);
    check_device_memory(name, "fetch", fetch);
    launch_compare_swap(name, fetch, dest, condition, value, pe, stream);
  });
}
template <class T>
void atomic_fetch_nbi_on_stream(const char* name, T* fetch, const T* source, int pe, Stream stream) {
  guard(name, [&] {
    check_fetch(name, fetch);
    check_device_memory(name, "fetch", fetch);
    launch_fetch(name, fetch, source, pe, stream);
  });
}

}  // namespace causeway::host
