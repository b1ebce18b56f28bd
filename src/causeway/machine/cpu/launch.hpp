// Launches the library's own kernels on the CPU machine (machine/launch.hpp).
#pragma once
#include <causeway/base/error.hpp>
#include <causeway/machine/cpu/context.hpp>
#include <causeway/machine/cpu/device.hpp>

#include <memory>

struct CUstream_st;

namespace causeway::machine {

using StreamHandle = CUstream_st*;

/// Of a copy or collective on a stream: on the CPU one thread is fastest.
constexpr unsigned kStreamThreads = 1;

/// Shared memory that a block of a library kernel may ask for.
inline unsigned shared_bytes_of_block() { return 0; }

template <class Functor>
class FunctorKernel : public cpu::Kernel {
 public:
  explicit FunctorKernel(const Functor& functor) : functor_(functor) {}
  void run() override {
    const Functor own = functor_;
    own();
  }

 private:
  Functor functor_;
};

/// Blocks of a library kernel that the device holds at a time.
template <class Functor>
int blocks_at_a_time(unsigned threads) {
  const cpu::Device& device = cpu::device();
  return int(device.limits().multiprocessors * device.blocks_per_multiprocessor(threads, 0));
}

inline cpu::Stream* cpu_stream(StreamHandle stream) {
  cpu::Device& device = cpu::device();
  auto* own = reinterpret_cast<cpu::Stream*>(stream);
  if (reinterpret_cast<uintptr_t>(stream) <= 2) return device.default_stream();  // null, legacy, per thread
  if (!device.owns(own)) fail(Status::invalid_value, "stream {}: no stream of this PE", static_cast<void*>(stream));
  return own;
}

template <class Functor>
void launch(const Functor& functor, unsigned blocks, unsigned threads, StreamHandle stream) {
  cpu::LaunchShape shape;
  shape.grid = {blocks, 1, 1};
  shape.block = {threads, 1, 1};
  cpu::Device& device = cpu::device();
  const auto status = device.launch(cpu_stream(stream), shape, std::make_shared<FunctorKernel<Functor>>(functor));
  if (status == cpu::LaunchStatus::device_failed)
    fail(Status::internal, "an earlier kernel failed: {}", device.failure());
}

}  // namespace causeway::machine
