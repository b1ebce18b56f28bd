// Copies and fills in stream order.
#include <causeway/emulator/runtime/allocations.hpp>
#include <causeway/emulator/runtime/devices.hpp>
#include <causeway/emulator/runtime/streams.hpp>
#include <causeway/machine/cpu/context.hpp>
#include <dlfcn.h>

#include <cstring>
#include <memory>
#include <vector>

using namespace causeway;
using namespace causeway::emulator;

namespace {

/// `height` rows of `width` bytes; a plain copy is one row.
struct Copy {
  char* to;
  size_t to_pitch;
  const char* from;
  size_t from_pitch;
  size_t width, height;
  cudaMemcpyKind kind;

  void run() const {
    for (size_t row = 0; row < height; ++row) std::memmove(to + row * to_pitch, from + row * from_pitch, width);
  }
};

size_t span(size_t pitch, size_t width, size_t height) { return pitch * (height - 1) + width; }
bool pageable(const void* pointer) { return !allocations().find(pointer); }
/// The same where the program does not say which memory it is: what lies in a program's image may be a device variable.
bool surely_pageable(const void* pointer) {
  Dl_info image;
  return pageable(pointer) && dladdr(pointer, &image) == 0;
}

/// Both ends checked; false if there is nothing to copy.
bool check(const Copy& copy) {
  refuse_if(copy.kind < cudaMemcpyHostToHost || copy.kind > cudaMemcpyDefault, cudaErrorInvalidMemcpyDirection);
  refuse_if(copy.height > 1 && (copy.to_pitch < copy.width || copy.from_pitch < copy.width),
            cudaErrorInvalidPitchValue);
  if (copy.width == 0 || copy.height == 0) return false;
  refuse_if(!copy.to || !copy.from, cudaErrorInvalidValue);
  refuse_if(!allocations().fits(copy.to, span(copy.to_pitch, copy.width, copy.height)), cudaErrorInvalidValue);
  refuse_if(!allocations().fits(copy.from, span(copy.from_pitch, copy.width, copy.height)), cudaErrorInvalidValue);
  return true;
}

/// The copy with its source saved: pageable host memory is read before the call returns, so that the program may change
/// it at once.
std::function<void()> with_saved_source(const Copy& copy) {
  auto saved = std::make_shared<std::vector<char>>(copy.width * copy.height);
  Copy save = copy, later = copy;
  save.to = saved->data();
  save.to_pitch = later.from_pitch = copy.width;
  later.from = saved->data();
  save.run();
  return [saved, later] { later.run(); };
}

void copy_async(const Copy& copy, cudaStream_t handle) {
  cpu::Device& device = cpu::device();
  cpu::Stream* stream = stream_of(handle);
  if (!check(copy)) return;
  const bool capturing = device.capturing(stream);
  const bool from_host = copy.kind == cudaMemcpyHostToDevice ? pageable(copy.from)
                         : copy.kind == cudaMemcpyDefault    ? surely_pageable(copy.from)
                                                             : false;
  const bool to_host = copy.kind == cudaMemcpyDeviceToHost ? pageable(copy.to)
                       : copy.kind == cudaMemcpyDefault    ? surely_pageable(copy.to)
                                                           : false;
  if (!capturing && from_host) {
    device.enqueue(stream, with_saved_source(copy));
  } else {
    device.enqueue(stream, [copy] { copy.run(); });
  }
  // CUDA returns only when the data has arrived if it goes to pageable memory.
  if (!capturing && to_host) device.synchronize(stream);
}

void copy_now(const Copy& copy) {
  cpu::Device& device = cpu::device();
  if (!check(copy)) return;
  device.enqueue(device.default_stream(), [copy] { copy.run(); });
  // Between two blocks of device memory the host does not wait, as on a GPU.
  if (copy.kind != cudaMemcpyDeviceToDevice) device.synchronize(device.default_stream());
}

Copy plain(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  return {static_cast<char*>(to), bytes, static_cast<const char*>(from), bytes, bytes, 1, kind};
}
Copy rows(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height,
          cudaMemcpyKind kind) {
  return {static_cast<char*>(to), to_pitch, static_cast<const char*>(from), from_pitch, width, height, kind};
}

void fill_async(void* pointer, size_t pitch, int value, size_t width, size_t height, cudaStream_t handle) {
  cpu::Stream* stream = stream_of(handle);
  refuse_if(height > 1 && pitch < width, cudaErrorInvalidPitchValue);
  if (width == 0 || height == 0) return;
  refuse_if(!pointer || !allocations().fits(pointer, span(pitch, width, height)), cudaErrorInvalidValue);
  cpu::device().enqueue(stream, [=] {
    for (size_t row = 0; row < height; ++row) std::memset(static_cast<char*>(pointer) + row * pitch, value, width);
  });
}

const void* at(const void* symbol, size_t offset) {
  refuse_if(!symbol, cudaErrorInvalidSymbol);
  return static_cast<const char*>(symbol) + offset;
}
void* at_mutable(const void* symbol, size_t offset) { return const_cast<void*>(at(symbol, offset)); }

}  // namespace

cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  return device_call([&] { copy_now(plain(to, from, bytes, kind)); });
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  return device_call([&] { copy_async(plain(to, from, bytes, kind), stream); });
}

cudaError_t cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device, size_t bytes) {
  return device_call([&] {
    check_device(to_device);
    check_device(from_device);
    copy_now(plain(to, from, bytes, cudaMemcpyDeviceToDevice));
  });
}
cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device, size_t bytes,
                                cudaStream_t stream) {
  return device_call([&] {
    check_device(to_device);
    check_device(from_device);
    copy_async(plain(to, from, bytes, cudaMemcpyDeviceToDevice), stream);
  });
}

cudaError_t cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height,
                         cudaMemcpyKind kind) {
  return device_call([&] { copy_now(rows(to, to_pitch, from, from_pitch, width, height, kind)); });
}
cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                              size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
  return device_call([&] { copy_async(rows(to, to_pitch, from, from_pitch, width, height, kind), stream); });
}

cudaError_t cudaMemset(void* pointer, int value, size_t bytes) {
  return device_call([&] { fill_async(pointer, bytes, value, bytes, 1, nullptr); });
}
cudaError_t cudaMemsetAsync(void* pointer, int value, size_t bytes, cudaStream_t stream) {
  return device_call([&] { fill_async(pointer, bytes, value, bytes, 1, stream); });
}
cudaError_t cudaMemset2D(void* pointer, size_t pitch, int value, size_t width, size_t height) {
  return device_call([&] { fill_async(pointer, pitch, value, width, height, nullptr); });
}
cudaError_t cudaMemset2DAsync(void* pointer, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream) {
  return device_call([&] { fill_async(pointer, pitch, value, width, height, stream); });
}

// A device variable is a variable of the program, and its symbol is its address.
cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* from, size_t bytes, size_t offset, cudaMemcpyKind kind) {
  return device_call([&] { copy_now(plain(at_mutable(symbol, offset), from, bytes, kind)); });
}
cudaError_t cudaMemcpyFromSymbol(void* to, const void* symbol, size_t bytes, size_t offset, cudaMemcpyKind kind) {
  return device_call([&] { copy_now(plain(to, at(symbol, offset), bytes, kind)); });
}
cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* from, size_t bytes, size_t offset,
                                    cudaMemcpyKind kind, cudaStream_t stream) {
  return device_call([&] { copy_async(plain(at_mutable(symbol, offset), from, bytes, kind), stream); });
}
cudaError_t cudaMemcpyFromSymbolAsync(void* to, const void* symbol, size_t bytes, size_t offset, cudaMemcpyKind kind,
                                      cudaStream_t stream) {
  return device_call([&] { copy_async(plain(to, at(symbol, offset), bytes, kind), stream); });
}
cudaError_t cudaGetSymbolAddress(void** pointer, const void* symbol) {
  return host_call([&] {
    refuse_if(!pointer, cudaErrorInvalidValue);
    *pointer = at_mutable(symbol, 0);
  });
}
