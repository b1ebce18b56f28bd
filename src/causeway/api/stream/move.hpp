// Data movement and signals on a stream: copies of the machine, and one-thread kernels.
#pragma once
#include <causeway/api/guard.hpp>
#include <causeway/api/host/check.hpp>
#include <causeway/coll/combine.hpp>
#include <causeway/view/heap_view.hpp>
#include <causeway/machine/launch.hpp>
#include <causeway/order/order.hpp>
#include <causeway/rma/strided.hpp>
#include <causeway/host/machine_host.hpp>
#include <causeway/signal/signal.hpp>

#include <cstdint>

namespace causeway::host {

using Stream = machine_host::Stream;

// What the stream, or the host, did before a store of these kernels is visible to whoever sees the store: copies are made by copy
// engines, so nothing that the program can call orders them but a fence by the thread that stores.

template <class T>
struct PKernel {
  DeviceWorld world;
  T* dest;
  T value;
  int pe;
  CAUSEWAY_DEVICE void operator()() const {
    fence(world);
    causeway::p(world, dest, value, pe);
  }
};

struct SignalKernel {
  DeviceWorld world;
  uint64_t* word;
  uint64_t value;
  int operation, pe;
  CAUSEWAY_DEVICE void operator()() const {
    fence(world);
    causeway::signal_op(world, word, value, operation, pe);
  }
};

struct QuietKernel {
  DeviceWorld world;
  CAUSEWAY_DEVICE void operator()() const { causeway::quiet(world); }
};

inline void put_on_stream(const char* name, void* dest, const void* source, size_t bytes, int pe, Stream stream) {
  guard(name, [&] {
    const DeviceWorld& world = check_remote(name, "dest", dest, bytes, pe);
    machine_host::copy_on_stream(at(world, dest, pe), source, bytes, stream);
  });
}
inline void get_on_stream(const char* name, void* dest, const void* source, size_t bytes, int pe, Stream stream) {
  guard(name, [&] {
    const DeviceWorld& world = check_remote(name, "source", source, bytes, pe);
    machine_host::copy_on_stream(dest, at(world, source, pe), bytes, stream);
  });
}
inline void put_nbi_on_stream(const char* name, void* dest, const void* source, size_t bytes, int pe, Stream stream) {
  put_on_stream(name, dest, source, bytes, pe, stream);
}
inline void get_nbi_on_stream(const char* name, void* dest, const void* source, size_t bytes, int pe, Stream stream) {
  get_on_stream(name, dest, source, bytes, pe, stream);
}

template <size_t Bytes>
void iput_on_stream(const char* name, Element<Bytes>, void* dest, const void* source, ptrdiff_t dest_stride,
                    ptrdiff_t source_stride, size_t elements, int pe, Stream stream) {
  guard(name, [&] {
    const DeviceWorld& world = check_remote_strided(name, "dest", dest, dest_stride, elements, Bytes, pe);
    machine_host::copy_strided_on_stream(at(world, dest, pe), dest_stride * ptrdiff_t(Bytes), source,
                                         source_stride * ptrdiff_t(Bytes), Bytes, elements, stream);
  });
}
template <size_t Bytes>
void iget_on_stream(const char* name, Element<Bytes>, void* dest, const void* source, ptrdiff_t dest_stride,
                    ptrdiff_t source_stride, size_t elements, int pe, Stream stream) {
  guard(name, [&] {
    const DeviceWorld& world = check_remote_strided(name, "source", source, source_stride, elements, Bytes, pe);
    machine_host::copy_strided_on_stream(dest, dest_stride * ptrdiff_t(Bytes), at(world, source, pe),
                                         source_stride * ptrdiff_t(Bytes), Bytes, elements, stream);
  });
}

template <class T>
void p_on_stream(const char* name, T* dest, T value, int pe, Stream stream) {
  using Plain = typename Canonical<Sum, T>::type;
  guard(name, [&] {
    const DeviceWorld& world = check_remote_by_kernel(name, "dest", dest, sizeof(T), pe);
    check_alignment(name, "dest", dest, sizeof(T));
    machine::launch(PKernel<Plain>{world, reinterpret_cast<Plain*>(dest), static_cast<Plain>(value), pe}, 1, 1, stream);
  });
}
template <class T>
T g_on_stream(const char* name, const T* source, int pe, Stream stream) {
  T value{};
  guard(name, [&] {
    const DeviceWorld& world = check_remote(name, "source", source, sizeof(T), pe);
    check_alignment(name, "source", source, sizeof(T));
    machine_host::copy_on_stream(&value, at(world, source, pe), sizeof(T), stream);
    machine_host::synchronize(stream);
  });
  return value;
}

inline void signal_op_on_stream(const char* name, uint64_t* word, uint64_t value, int operation, int pe,
                                Stream stream) {
  guard(name, [&] {
    const DeviceWorld& world = check_signal(name, word, operation, pe);
    machine::launch(SignalKernel{world, word, value, operation, pe}, 1, 1, stream);
  });
}
inline void put_signal_on_stream(const char* name, void* dest, const void* source, size_t bytes, uint64_t* word,
                                 uint64_t value, int operation, int pe, Stream stream) {
  guard(name, [&] {
    check_signal(name, word, operation, pe);
    const DeviceWorld& world = check_remote(name, "dest", dest, bytes, pe);
    machine_host::copy_on_stream(at(world, dest, pe), source, bytes, stream);
    machine::launch(SignalKernel{world, word, value, operation, pe}, 1, 1, stream);
  });
}
inline void put_signal_nbi_on_stream(const char* name, void* dest, const void* source, size_t bytes, uint64_t* word,
                                     uint64_t value, int operation, int pe, Stream stream) {
  put_signal_on_stream(name, dest, source, bytes, word, value, operation, pe, stream);
}

inline void quiet_on_stream(const char* name, Stream stream) {
  guard(name, [&] {
    machine::launch(QuietKernel{bound_world(name)}, 1, 1, stream);
    check_faults(name);
  });
}

}  // namespace causeway::host
