// The GPU thread that runs: its indices and its block's shared memory. On a host thread device code runs as the only
// thread of a grid of one block.
#pragma once
#include <causeway/machine/cpu/thread.hpp>

#include "launch.h"

// Reads of the scheduler's records are no accesses of the program: a race detector must not see them.
#if defined(__SANITIZE_THREAD__)
#define CAUSEWAY_EMULATOR_UNCHECKED __attribute__((noinline, no_sanitize_thread))
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define CAUSEWAY_EMULATOR_UNCHECKED __attribute__((noinline, no_sanitize("thread")))
#endif
#endif
#ifndef CAUSEWAY_EMULATOR_UNCHECKED
#define CAUSEWAY_EMULATOR_UNCHECKED
#endif

namespace causeway::emulator {

/// Called in open loops, so that a spinning thread lets the one it waits for run.
CAUSEWAY_EMULATOR_UNCHECKED inline void tick() { cpu::tick(); }

CAUSEWAY_EMULATOR_UNCHECKED inline uint3 thread_index() {
  const cpu::Thread* t = cpu::current;
  return t ? uint3{t->thread.x, t->thread.y, t->thread.z} : uint3{0, 0, 0};
}
CAUSEWAY_EMULATOR_UNCHECKED inline uint3 block_index() {
  const cpu::Thread* t = cpu::current;
  return t ? uint3{t->block.x, t->block.y, t->block.z} : uint3{0, 0, 0};
}
CAUSEWAY_EMULATOR_UNCHECKED inline dim3 block_dim() {
  const cpu::Thread* t = cpu::current;
  return t ? dim3(t->block_dim.x, t->block_dim.y, t->block_dim.z) : dim3();
}
CAUSEWAY_EMULATOR_UNCHECKED inline dim3 grid_dim() {
  const cpu::Thread* t = cpu::current;
  return t ? dim3(t->grid_dim.x, t->grid_dim.y, t->grid_dim.z) : dim3();
}
CAUSEWAY_EMULATOR_UNCHECKED inline unsigned lane_index() {
  const cpu::Thread* t = cpu::current;
  return t ? t->lane : 0;
}
CAUSEWAY_EMULATOR_UNCHECKED inline unsigned linear_thread_index() {
  const cpu::Thread* t = cpu::current;
  return t ? t->linear : 0;
}

/// Shared memory of the block by key; on a host thread, memory of that thread.
CAUSEWAY_EMULATOR_API void* static_shared(const void* key, size_t bytes, size_t alignment);
CAUSEWAY_EMULATOR_API void* dynamic_shared_memory();

template <class T>
struct SharedKey {
  static inline char key = 0;
};
/// The block's instance of a `__shared__` variable; T is a type of its own for every such variable.
template <class T>
inline T& shared_slot() {
  return *static_cast<T*>(static_shared(&SharedKey<T>::key, sizeof(T), alignof(T) < 16 ? 16 : alignof(T)));
}

template <class T>
using Unbounded = T[];
/// `extern __shared__ T name[]`.
template <class T>
inline Unbounded<T>& dynamic_shared() {
  return *static_cast<Unbounded<T>*>(dynamic_shared_memory());
}

}  // namespace causeway::emulator

inline constexpr int warpSize = 32;
