// Block and warp barriers, memory fences, and ways to end or delay a GPU thread.
#pragma once
#include <time.h>

#include "thread.h"

inline void __syncthreads() { ::causeway::cpu::sync_block(); }
inline int __syncthreads_count(int predicate) {
  return ::causeway::cpu::sync_block_vote(predicate != 0, ::causeway::cpu::Vote::count);
}
inline int __syncthreads_and(int predicate) {
  return ::causeway::cpu::sync_block_vote(predicate != 0, ::causeway::cpu::Vote::all);
}
inline int __syncthreads_or(int predicate) {
  return ::causeway::cpu::sync_block_vote(predicate != 0, ::causeway::cpu::Vote::any);
}
inline void __syncwarp(unsigned mask = 0xffffffffu) { ::causeway::cpu::sync_warp(mask); }

// All GPU threads see one coherent memory, so the three scopes need the same fence. Not std::atomic_thread_fence: TSan
// does not support it, and g++ refuses it there.
inline void __threadfence() { ::causeway::cpu::fence(); }
inline void __threadfence_block() { __sync_synchronize(); }
inline void __threadfence_system() { ::causeway::cpu::fence(); }

[[noreturn]] inline void __trap() { ::causeway::cpu::trap("__trap()"); }
inline void __brkpt() { __builtin_trap(); }
[[noreturn]] inline void __exit() { ::causeway::cpu::exit_thread(); }
[[noreturn]] CAUSEWAY_EMULATOR_API void __assertfail(const char* message, const char* file, unsigned line,
                                                     const char* function, size_t char_size = 1);

/// Lets others run at least once; time passes for them, not here.
inline void __nanosleep(unsigned) { ::causeway::cpu::yield(); }

namespace causeway::emulator {
inline long long nanoseconds() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000ll + now.tv_nsec;
}
}  // namespace causeway::emulator

// One clock cycle is a nanosecond. Reading a clock lets others run: programs wait for time to pass.
inline long long clock64() {
  ::causeway::emulator::tick();
  return ::causeway::emulator::nanoseconds();
}
inline unsigned long long __globaltimer() { return static_cast<unsigned long long>(clock64()); }
