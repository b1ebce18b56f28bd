// The CUDA machine: the only file with PTX or CUDA's device built-ins. A function's name is its contract, the asm its
// proof.
#pragma once
#include <causeway/base/host_device.hpp>
#include <causeway/base/numbers.hpp>
#include <causeway/base/word.hpp>
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>

#define CAUSEWAY_DEVICE __device__ __forceinline__
#define CAUSEWAY_DEVICE_LARGE __device__ __noinline__  // whole collectives: a call is nothing beside a trip to a peer
#define CAUSEWAY_DEVICE_OUT_OF_LINE static __device__ __noinline__
#define CAUSEWAY_DEVICE_PRINT(...) printf(__VA_ARGS__)
#define CAUSEWAY_UNROLL _Pragma("unroll")

namespace causeway::machine {

constexpr bool kGpu = true;
#if defined(CAUSEWAY_DEBUG) || defined(__CUDACC_DEBUG__)
constexpr bool kChecks = true;
#else
constexpr bool kChecks = false;
#endif
/// A wait looks at the clock once in so many polls: the clock costs more than a poll.
constexpr unsigned kPollsPerClock = 1024;
/// The first polls of a wait, about 10 us (see arrived() in spin.hpp).
constexpr unsigned kHurriedPolls = 32;

CAUSEWAY_DEVICE unsigned threads_in_block() { return blockDim.x * blockDim.y * blockDim.z; }
CAUSEWAY_DEVICE unsigned thread_in_block() {
  return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}
CAUSEWAY_DEVICE unsigned block_in_grid() { return blockIdx.x; }
CAUSEWAY_DEVICE unsigned blocks_in_grid() { return gridDim.x; }
CAUSEWAY_DEVICE unsigned thread_in_warp() {
  unsigned lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  return lane;
}
CAUSEWAY_DEVICE unsigned threads_in_warp() {
  const unsigned left = threads_in_block() - thread_in_block() / 32 * 32;
  return left < 32 ? left : 32;
}
CAUSEWAY_DEVICE constexpr bool on_host() { return false; }
CAUSEWAY_DEVICE void sync_warp() {
  const unsigned threads = threads_in_warp();
  __syncwarp(threads == 32 ? 0xffffffffu : (1u << threads) - 1);
}
CAUSEWAY_DEVICE void sync_block() { __syncthreads(); }
CAUSEWAY_DEVICE bool any_in_block(bool set) { return __syncthreads_or(set) != 0; }
/// A warpgroup is 128 consecutive threads of the block. (Its barriers are the hardware's last eight.)
CAUSEWAY_DEVICE void sync_warpgroup() {
  const unsigned group = thread_in_block() / 128, left = threads_in_block() - group * 128;
  asm volatile("bar.sync %0, %1;" ::"r"(8 + group), "r"(rounded_up(left < 128 ? left : 128, 32)) : "memory");
}
CAUSEWAY_DEVICE void pause() {}
CAUSEWAY_DEVICE uint64_t now_ns() {
  uint64_t ns;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
  return ns;
}

/// A number that differs from call to call.
CAUSEWAY_DEVICE uint32_t varying() {
  uint32_t cycles;
  asm volatile("mov.u32 %0, %%clock;" : "=r"(cycles));
  return cycles;
}

// ---- order (PTX memory model, system scope)
CAUSEWAY_DEVICE void fence_acq_rel_sys() { asm volatile("fence.acq_rel.sys;" ::: "memory"); }
CAUSEWAY_DEVICE void fence_sc_sys() { asm volatile("fence.sc.sys;" ::: "memory"); }

// One accessor a width; the templates below choose by size.
#define CAUSEWAY_ACCESS(width, raw, constraint)                                                          \
  CAUSEWAY_DEVICE raw load_acquire(const raw* p) {                                                       \
    raw v;                                                                                               \
    asm volatile("ld.acquire.sys.global.b" #width " %0, [%1];" : constraint(v) : "l"(p) : "memory");     \
    return v;                                                                                            \
  }                                                                                                      \
  CAUSEWAY_DEVICE raw load_relaxed(const raw* p) {                                                       \
    raw v;                                                                                               \
    asm volatile("ld.relaxed.sys.global.b" #width " %0, [%1];" : constraint(v) : "l"(p) : "memory");     \
    return v;                                                                                            \
  }                                                                                                      \
  CAUSEWAY_DEVICE void store_relaxed(raw* p, raw v) {                                                    \
    asm volatile("st.relaxed.sys.global.b" #width " [%0], %1;" ::"l"(p), constraint##_IN(v) : "memory"); \
  }                                                                                                      \
  CAUSEWAY_DEVICE void store_release(raw* p, raw v) {                                                    \
    asm volatile("st.release.sys.global.b" #width " [%0], %1;" ::"l"(p), constraint##_IN(v) : "memory"); \
  }
#define CAUSEWAY_H(v) "=h"(v)
#define CAUSEWAY_H_IN(v) "h"(v)
#define CAUSEWAY_R(v) "=r"(v)
#define CAUSEWAY_R_IN(v) "r"(v)
#define CAUSEWAY_L(v) "=l"(v)
#define CAUSEWAY_L_IN(v) "l"(v)
namespace raw {
CAUSEWAY_ACCESS(16, uint16_t, CAUSEWAY_H)
CAUSEWAY_ACCESS(32, uint32_t, CAUSEWAY_R)
CAUSEWAY_ACCESS(64, uint64_t, CAUSEWAY_L)
// A byte travels in a 16-bit register.
CAUSEWAY_DEVICE uint8_t load_acquire(const uint8_t* p) {
  uint16_t v;
  asm volatile("ld.acquire.sys.global.b8 %0, [%1];" : "=h"(v) : "l"(p) : "memory");
  return static_cast<uint8_t>(v);
}
CAUSEWAY_DEVICE uint8_t load_relaxed(const uint8_t* p) {
  uint16_t v;
  asm volatile("ld.relaxed.sys.global.b8 %0, [%1];" : "=h"(v) : "l"(p) : "memory");
  return static_cast<uint8_t>(v);
}
CAUSEWAY_DEVICE void store_relaxed(uint8_t* p, uint8_t v) {
  asm volatile("st.relaxed.sys.global.b8 [%0], %1;" ::"l"(p), "h"(static_cast<uint16_t>(v)) : "memory");
}
CAUSEWAY_DEVICE void store_release(uint8_t* p, uint8_t v) {
  asm volatile("st.release.sys.global.b8 [%0], %1;" ::"l"(p), "h"(static_cast<uint16_t>(v)) : "memory");
}
}  // namespace raw
#undef CAUSEWAY_ACCESS
#undef CAUSEWAY_H
#undef CAUSEWAY_H_IN
#undef CAUSEWAY_R
#undef CAUSEWAY_R_IN
#undef CAUSEWAY_L
#undef CAUSEWAY_L_IN

template <class T>
CAUSEWAY_DEVICE T load_acquire_sys(const T* p) {
  return same_bits<T>(raw::load_acquire(reinterpret_cast<const WordOf<sizeof(T)>*>(p)));
}
template <class T>
CAUSEWAY_DEVICE T load_relaxed_sys(const T* p) {
  return same_bits<T>(raw::load_relaxed(reinterpret_cast<const WordOf<sizeof(T)>*>(p)));
}
template <class T>
CAUSEWAY_DEVICE void store_relaxed_sys(T* p, T value) {
  using Word = WordOf<sizeof(T)>;
  raw::store_relaxed(reinterpret_cast<Word*>(p), same_bits<Word>(value));
}
template <class T>
CAUSEWAY_DEVICE void store_release_sys(T* p, T value) {
  using Word = WordOf<sizeof(T)>;
  raw::store_release(reinterpret_cast<Word*>(p), same_bits<Word>(value));
}
CAUSEWAY_DEVICE void add_relaxed_sys(uint64_t* p, uint64_t value) {
  asm volatile("red.relaxed.sys.global.add.u64 [%0], %1;" ::"l"(p), "l"(value) : "memory");
}
CAUSEWAY_DEVICE void add_release_sys(uint64_t* p, uint64_t value) {
  asm volatile("red.release.sys.global.add.u64 [%0], %1;" ::"l"(p), "l"(value) : "memory");
}

// ---- atomics on any PE's memory; they order nothing. Word: uint32_t, uint64_t; sums also float, double.
CAUSEWAY_DEVICE unsigned long long* cuda_word(uint64_t* p) { return reinterpret_cast<unsigned long long*>(p); }
CAUSEWAY_DEVICE float atomic_add_sys(float* p, float value) { return atomicAdd_system(p, value); }
CAUSEWAY_DEVICE double atomic_add_sys(double* p, double value) { return atomicAdd_system(p, value); }
#define CAUSEWAY_ATOMIC(name, cuda)                                                     \
  CAUSEWAY_DEVICE uint32_t name(uint32_t* p, uint32_t value) { return cuda(p, value); } \
  CAUSEWAY_DEVICE uint64_t name(uint64_t* p, uint64_t value) { return cuda(cuda_word(p), (unsigned long long)value); }
CAUSEWAY_ATOMIC(atomic_add_sys, atomicAdd_system)
CAUSEWAY_ATOMIC(atomic_and_sys, atomicAnd_system)
CAUSEWAY_ATOMIC(atomic_or_sys, atomicOr_system)
CAUSEWAY_ATOMIC(atomic_xor_sys, atomicXor_system)
CAUSEWAY_ATOMIC(atomic_exchange_sys, atomicExch_system)
#undef CAUSEWAY_ATOMIC
/// Stores `value` if *p is `expected`; what *p was.
CAUSEWAY_DEVICE uint32_t atomic_compare_exchange_sys(uint32_t* p, uint32_t expected, uint32_t value) {
  return atomicCAS_system(p, expected, value);
}
CAUSEWAY_DEVICE uint64_t atomic_compare_exchange_sys(uint64_t* p, uint64_t expected, uint64_t value) {
  return atomicCAS_system(cuda_word(p), (unsigned long long)expected, (unsigned long long)value);
}

// ---- data of peers
/// One element, in one store, to a peer; ordered by nothing.
template <class T>
CAUSEWAY_DEVICE void store_peer(T* p, T value) {
  store_relaxed_sys(p, value);
}
template <class T>
CAUSEWAY_DEVICE T load_peer(const T* p) {
  return load_relaxed_sys(p);
}

// As two words of 64 bits, because the memory model takes a vector's elements for accesses of their own.
struct alignas(16) Word16 {
  uint32_t x, y, z, w;
};
CAUSEWAY_DEVICE Word16 word16(uint64_t low, uint64_t high) {
  return {uint32_t(low), uint32_t(low >> 32), uint32_t(high), uint32_t(high >> 32)};
}
CAUSEWAY_DEVICE Word16 load_copy(const Word16* p) {
  uint64_t low, high;
  asm volatile("ld.v2.u64 {%0,%1}, [%2];" : "=l"(low), "=l"(high) : "l"(p) : "memory");
  return word16(low, high);
}
/// From memory, not from the L1 cache: what a peer has written since.
CAUSEWAY_DEVICE Word16 load_fresh(const Word16* p) {
  uint64_t low, high;
  asm volatile("ld.relaxed.sys.v2.u64 {%0,%1}, [%2];" : "=l"(low), "=l"(high) : "l"(p) : "memory");
  return word16(low, high);
}
CAUSEWAY_DEVICE void store_copy(Word16* p, Word16 v) {
  asm volatile("st.v2.u64 [%0], {%1,%2};" ::"l"(p), "l"(uint64_t(v.y) << 32 | v.x), "l"(uint64_t(v.w) << 32 | v.z)
               : "memory");
}
template <class T>
CAUSEWAY_DEVICE T load_copy(const T* p) {
  return *reinterpret_cast<const volatile T*>(p);
}
template <class T>
CAUSEWAY_DEVICE T load_fresh(const T* p) {
  return *reinterpret_cast<const volatile T*>(p);
}
template <class T>
CAUSEWAY_DEVICE void store_copy(T* p, T v) {
  *reinterpret_cast<volatile T*>(p) = v;
}
/// The 16 bytes that begin `bytes`, 1 to 15, behind the beginning of `low`; `high` follows it in memory.
CAUSEWAY_DEVICE Word16 shifted(Word16 low, Word16 high, unsigned bytes) {
  const bool two = bytes & 8, one = bytes & 4;
  const uint32_t a = two ? low.z : low.x, b = two ? low.w : low.y, c = two ? high.x : low.z, d = two ? high.y : low.w,
                 e = two ? high.z : high.x, f = two ? high.w : high.y;
  const uint32_t p = one ? b : a, q = one ? c : b, r = one ? d : c, s = one ? e : d, t = one ? f : e;
  const unsigned bits = bytes % 4 * 8;
  return {__funnelshift_r(p, q, bits), __funnelshift_r(q, r, bits), __funnelshift_r(r, s, bits),
          __funnelshift_r(s, t, bits)};
}
/// The value, of which the compiler learns nothing: what is computed from it is not kept in registers through a
/// caller's loop.
CAUSEWAY_DEVICE unsigned opaque(unsigned value) {
  asm volatile("" : "+r"(value));
  return value;
}
/// Number of the highest bit that is set; `bits` is not 0.
CAUSEWAY_DEVICE unsigned highest_bit(uint64_t bits) { return 63 - unsigned(__clzll((long long)bits)); }
/// 16 bytes at a multiple of 16, to or from any PE's memory; ordered by nothing, and may tear.
template <class T>
CAUSEWAY_DEVICE void store_peer16(void* p, const T& value) {
  static_assert(sizeof(T) == 16, "16 bytes");
  store_copy(static_cast<Word16*>(p), same_bits<Word16>(value));
}
template <class T>
CAUSEWAY_DEVICE T load_peer16(const void* p) {
  static_assert(sizeof(T) == 16, "16 bytes");
  return same_bits<T>(load_copy(static_cast<const Word16*>(p)));
}

// ---- shared memory of the library's own kernels (launch.hpp), and loads into it that the thread does not wait for
constexpr unsigned kThreadsMax = 512;  // of a block of theirs: what registers and shared memory are dealt for
CAUSEWAY_DEVICE void* shared_memory() {
  extern __shared__ Word16 causeway_shared_memory[];
  return causeway_shared_memory;
}
/// 16 bytes at a multiple of 16, from any PE's memory.
CAUSEWAY_DEVICE void load_async16(void* shared, const void* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(unsigned(__cvta_generic_to_shared(shared))), "l"(from)
               : "memory");
}
/// The thread's loads since the last group are one.
CAUSEWAY_DEVICE void end_async_group() { asm volatile("cp.async.commit_group;" ::: "memory"); }
/// All but the thread's last `Pending` groups have come.
template <int Pending>
CAUSEWAY_DEVICE void wait_for_async_groups() {
  asm volatile("cp.async.wait_group %0;" ::"n"(Pending) : "memory");
}

/// The greater of a value and the magnitude of another; a NaN there is passed over.
CAUSEWAY_DEVICE float greater_magnitude(float value, float other) { return fmaxf(value, fabsf(other)); }
/// The upper half of a product.
CAUSEWAY_DEVICE uint64_t multiply_high(uint64_t a, uint64_t b) { return __umul64hi(a, b); }

// ---- lanes of one whole warp
CAUSEWAY_DEVICE uint32_t ballot(bool set) { return __ballot_sync(0xffffffffu, set); }
CAUSEWAY_DEVICE int bits_set(uint32_t bits) { return __popc(bits); }
CAUSEWAY_DEVICE int lowest_bit(uint32_t bits) { return __ffs(int(bits)) - 1; }
template <class T>
CAUSEWAY_DEVICE T from_lane(T value, unsigned lane) {
  return __shfl_sync(0xffffffffu, value, int(lane));
}
template <class T>
CAUSEWAY_DEVICE T* from_lane(T* value, unsigned lane) {
  return reinterpret_cast<T*>(from_lane(reinterpret_cast<unsigned long long>(value), lane));
}
/// The sum of the values of this lane and those below it.
CAUSEWAY_DEVICE int32_t inclusive_sum(int32_t value) {
  for (unsigned step = 1; step < 32; step *= 2) {
    const int32_t below = __shfl_up_sync(0xffffffffu, value, step);
    if (thread_in_warp() >= step) value += below;
  }
  return value;
}
CAUSEWAY_DEVICE uint32_t any_bits(uint32_t bits) {
#if __CUDA_ARCH__ >= 800
  return __reduce_or_sync(0xffffffffu, bits);
#else
  for (int step = 16; step > 0; step /= 2) bits |= __shfl_xor_sync(0xffffffffu, bits, step);
  return bits;
#endif
}
/// Each value becomes the greatest in this half of the warp.
template <int Count>
CAUSEWAY_DEVICE void most_of_sixteen(float (&values)[Count]) {
  CAUSEWAY_UNROLL
  for (int step = 8; step > 0; step /= 2) {
    CAUSEWAY_UNROLL
    for (float& value : values) value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, step));
  }
}
#if __CUDA_ARCH__ >= 890
#define CAUSEWAY_HARDWARE_E4M3 1
/// Two values as e4m3, the first in the low byte: to the nearest, beyond the greatest: the greatest.
CAUSEWAY_DEVICE uint16_t e4m3_pair(float low, float high) {
  uint16_t pair;
  asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(high), "f"(low));
  return pair;
}
#endif

CAUSEWAY_DEVICE unsigned dumps_asked() { return 0; }
/// A failed check of an argument: printed.
CAUSEWAY_DEVICE_OUT_OF_LINE void note_misuse(const char* call, const char* problem) {
  printf("causeway: %s: %s; the call does nothing\n", call, problem);
}

}  // namespace causeway::machine
