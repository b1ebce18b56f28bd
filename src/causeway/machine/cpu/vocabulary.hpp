// The CPU machine: GPU threads are fibers. Host threads may call everything too: they are a block of one thread.
#pragma once
#include <causeway/base/host_device.hpp>
#include <causeway/base/word.hpp>
#include <causeway/machine/cpu/simulator.hpp>
#include <causeway/machine/cpu/thread.hpp>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <type_traits>

#define CAUSEWAY_API __attribute__((visibility("default")))
#define CAUSEWAY_DEVICE inline
#define CAUSEWAY_DEVICE_LARGE inline
#define CAUSEWAY_DEVICE_OUT_OF_LINE inline
#define CAUSEWAY_DEVICE_PRINT(...) fprintf(stderr, __VA_ARGS__)
#define CAUSEWAY_UNROLL  // what a lane holds in registers matters on a GPU alone

namespace causeway::machine {

constexpr bool kGpu = false;
/// Data paths check their arguments: this is the machine to find mistakes on.
constexpr bool kChecks = true;
/// A wait looks at the clock, and for requests to report, once in so many polls (of about a microsecond).
constexpr unsigned kPollsPerClock = 64;
/// The first polls of a wait (see arrived() in spin.hpp): here all loads cost the same.
constexpr unsigned kHurriedPolls = 32;

inline unsigned thread_in_block() { return cpu::current ? cpu::current->linear : 0; }
inline unsigned threads_in_block() {
  if (!cpu::current) return 1;
  const auto d = cpu::current->block_dim;
  return d.x * d.y * d.z;
}
inline unsigned thread_in_warp() { return cpu::current ? cpu::current->lane : 0; }
inline unsigned threads_in_warp() {
  if (!cpu::current) return 1;
  const unsigned left = threads_in_block() - cpu::current->linear / 32 * 32;
  return left < 32 ? left : 32;
}
inline unsigned block_in_grid() { return cpu::current ? cpu::current->block.x : 0; }
inline unsigned blocks_in_grid() { return cpu::current ? cpu::current->grid_dim.x : 1; }
inline void sync_warp() { cpu::sync_warp(); }
inline void sync_block() { cpu::sync_block(); }
/// A warpgroup is 128 consecutive threads of the block.
inline void sync_warpgroup() {
  const unsigned group = thread_in_block() / 128, left = threads_in_block() - group * 128;
  cpu::sync_named(8 + group, left < 128 ? left : 128, true);
}
/// Is the caller a host thread?
inline bool on_host() { return !cpu::current; }
/// Lets whatever a wait waits for run.
inline void pause() {
  if (cpu::current || cpu::simulated) return cpu::yield();
  cpu::pause_host();
}
/// A clock for limits of waits: nanoseconds, or steps of the simulator (1 us each).
inline uint64_t now_ns() {
  if (cpu::simulated) return cpu::simulator_steps() * 1000;
  return uint64_t(std::chrono::steady_clock::now().time_since_epoch().count());
}

/// A number that differs from call to call.
inline uint32_t varying() {
  static uint32_t calls = 0;
  return __atomic_fetch_add(&calls, 1u, __ATOMIC_RELAXED);
}

// ---- order. Loads and stores of flags are real atomics; fences also drain the simulator's store buffers.
inline void full_fence() {
#if defined(__SANITIZE_THREAD__)
  static int word = 0;  // ThreadSanitizer does not know fences; a read-modify-write orders as much
  __atomic_fetch_add(&word, 0, __ATOMIC_SEQ_CST);
#else
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}
inline void fence_acq_rel_sys() {
  if (cpu::simulated) cpu::buffered_release();
#if defined(__SANITIZE_THREAD__)
  full_fence();
#else
  __atomic_thread_fence(__ATOMIC_ACQ_REL);
#endif
}
inline void fence_sc_sys() {
  if (cpu::simulated) cpu::buffered_release();
  full_fence();
}

template <class T>
T load_acquire_sys(const T* p) {
  return __atomic_load_n(p, __ATOMIC_ACQUIRE);
}
template <class T>
T load_relaxed_sys(const T* p) {
  return __atomic_load_n(p, __ATOMIC_RELAXED);
}
template <class T>
void store_relaxed_sys(T* p, T value) {
  __atomic_store_n(p, value, __ATOMIC_RELAXED);
}
template <class T>
void store_release_sys(T* p, T value) {
  if (cpu::simulated) cpu::buffered_release();
  __atomic_store_n(p, value, __ATOMIC_RELEASE);
}
inline void add_relaxed_sys(uint64_t* p, uint64_t value) { __atomic_fetch_add(p, value, __ATOMIC_RELAXED); }
/// The greater of a value and the magnitude of another; a NaN there is passed over.
inline float greater_magnitude(float value, float other) {
  return other > value ? other : -other > value ? -other : value;
}
/// The upper half of a product.
inline uint64_t multiply_high(uint64_t a, uint64_t b) { return uint64_t((unsigned __int128)a * b >> 64); }

inline void add_release_sys(uint64_t* p, uint64_t value) {
  if (cpu::simulated) cpu::buffered_release();
  __atomic_fetch_add(p, value, __ATOMIC_RELEASE);
}

// ---- atomics on any PE's memory; they order nothing. Word: uint32_t, uint64_t; sums also float, double.
template <class Word>
Word atomic_add_sys(Word* p, Word value) {
  return __atomic_fetch_add(p, value, __ATOMIC_RELAXED);
}
template <class Real, class Word>
Real atomic_add_real(Real* p, Real value) {
  Word seen = __atomic_load_n(reinterpret_cast<Word*>(p), __ATOMIC_RELAXED), wanted;
  Real before;
  do {
    std::memcpy(&before, &seen, sizeof before);
    const Real sum = before + value;
    std::memcpy(&wanted, &sum, sizeof wanted);
  } while (!__atomic_compare_exchange_n(reinterpret_cast<Word*>(p), &seen, wanted, true, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED));
  return before;
}
inline float atomic_add_sys(float* p, float value) { return atomic_add_real<float, uint32_t>(p, value); }
inline double atomic_add_sys(double* p, double value) { return atomic_add_real<double, uint64_t>(p, value); }
template <class Word>
Word atomic_and_sys(Word* p, Word value) {
  return __atomic_fetch_and(p, value, __ATOMIC_RELAXED);
}
template <class Word>
Word atomic_or_sys(Word* p, Word value) {
  return __atomic_fetch_or(p, value, __ATOMIC_RELAXED);
}
template <class Word>
Word atomic_xor_sys(Word* p, Word value) {
  return __atomic_fetch_xor(p, value, __ATOMIC_RELAXED);
}
template <class Word>
Word atomic_exchange_sys(Word* p, Word value) {
  return __atomic_exchange_n(p, value, __ATOMIC_RELAXED);
}
/// Stores `value` if *p is `expected`; what *p was.
template <class Word>
Word atomic_compare_exchange_sys(Word* p, Word expected, Word value) {
  __atomic_compare_exchange_n(p, &expected, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  return expected;
}

// ---- data of peers
/// One element, in one store, to a peer; ordered by nothing.
template <class T>
void store_peer(T* p, T value) {
  if (cpu::simulated) return cpu::buffered_store(p, &value, sizeof value);
  using Word = WordOf<sizeof(T)>;
  __atomic_store_n(reinterpret_cast<Word*>(p), same_bits<Word>(value), __ATOMIC_RELAXED);
}
/// One element, in one load, of a peer.
template <class T>
T load_peer(const T* p) {
  if (cpu::simulated) cpu::buffered_read(p, sizeof(T));
  return same_bits<T>(__atomic_load_n(reinterpret_cast<const WordOf<sizeof(T)>*>(p), __ATOMIC_RELAXED));
}

/// 16 bytes at a multiple of 16, to or from any PE's memory; ordered by nothing, and may tear.
template <class T>
void store_peer16(void* p, const T& value) {
  static_assert(sizeof(T) == 16, "16 bytes");
  if (cpu::simulated) return cpu::buffered_store(p, &value, 16);
  std::memcpy(p, &value, 16);
}
template <class T>
T load_peer16(const void* p) {
  static_assert(sizeof(T) == 16, "16 bytes");
  if (cpu::simulated) cpu::buffered_read(p, 16);
  T value;
  std::memcpy(static_cast<void*>(&value), p, 16);
  return value;
}

/// A failed check of an argument: printed, and kept for causeway_last_error().
CAUSEWAY_API void note_misuse(const char* call, const char* problem);
/// Asks every wait to print itself (SIGUSR1); safe in a signal handler.
CAUSEWAY_API void ask_for_dump();
/// Grows with every such request.
CAUSEWAY_API unsigned dumps_asked();

}  // namespace causeway::machine
