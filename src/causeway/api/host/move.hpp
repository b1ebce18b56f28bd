// Host calls of the CUDA machine that move data: by the copy engine on the library's own stream, in order.
#pragma once
#include <causeway/api/stream/move.hpp>

namespace causeway::host {

/// The library's own stream. Throws where there is none yet: before init, or before anything has bound a device.
inline Stream own(const char* name) {
  check_bound(name);
  return machine_host::private_stream();
}

template <class T>
void p(const char* name, T* dest, T value, int pe) {
  // (The driver copies a small source before it returns.)
  guard(name, [&] {
    check_alignment(name, "dest", dest, sizeof(T));
    put_on_stream(name, dest, &value, sizeof value, pe, own(name));
  });
}
template <class T>
T g(const char* name, const T* source, int pe) {
  T value{};
  guard(name, [&] { value = g_on_stream(name, source, pe, own(name)); });
  return value;
}
inline void put_nbi(const char* name, void* dest, const void* source, size_t bytes, int pe) {
  guard(name, [&] { put_on_stream(name, dest, source, bytes, pe, own(name)); });
}
inline void get_nbi(const char* name, void* dest, const void* source, size_t bytes, int pe) {
  guard(name, [&] { get_on_stream(name, dest, source, bytes, pe, own(name)); });
}
inline void quiet(const char* name) {
  guard(name, [&] {
    check_faults(name);
    machine_host::synchronize(own(name));
    check_faults(name);
  });
}
inline void put(const char* name, void* dest, const void* source, size_t bytes, int pe) {
  put_nbi(name, dest, source, bytes, pe);
  quiet(name);
}
inline void get(const char* name, void* dest, const void* source, size_t bytes, int pe) {
  get_nbi(name, dest, source, bytes, pe);
  quiet(name);
}
/// Host operations run in the order of one stream.
inline void fence(const char*) {}

template <size_t Bytes>
void iput(const char* name, Element<Bytes> element, void* dest, const void* source, ptrdiff_t dest_stride,
          ptrdiff_t source_stride, size_t elements, int pe) {
  guard(name,
        [&] { iput_on_stream(name, element, dest, source, dest_stride, source_stride, elements, pe, own(name)); });
  quiet(name);
}
template <size_t Bytes>
void iget(const char* name, Element<Bytes> element, void* dest, const void* source, ptrdiff_t dest_stride,
          ptrdiff_t source_stride, size_t elements, int pe) {
  guard(name,
        [&] { iget_on_stream(name, element, dest, source, dest_stride, source_stride, elements, pe, own(name)); });
  quiet(name);
}

inline void put_signal_nbi(const char* name, void* dest, const void* source, size_t bytes, uint64_t* word,
                           uint64_t value, int operation, int pe) {
  guard(name, [&] { put_signal_on_stream(name, dest, source, bytes, word, value, operation, pe, own(name)); });
}
inline void put_signal(const char* name, void* dest, const void* source, size_t bytes, uint64_t* word, uint64_t value,
                       int operation, int pe) {
  put_signal_nbi(name, dest, source, bytes, word, value, operation, pe);
  quiet(name);
}
inline void signal_op(const char* name, uint64_t* word, uint64_t value, int operation, int pe) {
  guard(name, [&] { signal_op_on_stream(name, word, value, operation, pe, own(name)); });
}

}  // namespace causeway::host
