// Atomic functions, for every scope: all GPU threads of the machine share one coherent memory. They are stronger than
// CUDA's relaxed ones, because the processor's read-modify-write instructions are.
#pragma once
#include "bfloat16.h"
#include "half.h"
#include "thread.h"

namespace causeway::emulator {

/// Replaces *address by next(old) atomically; gives old. The bits are compared, so NaN and -0 behave.
template <class T, class Next>
inline T modify(T* address, Next next) {
  tick();  // programs spin on atomics
  T old, wanted;
  __atomic_load(address, &old, __ATOMIC_RELAXED);
  do {
    wanted = next(old);
  } while (!__atomic_compare_exchange(address, &old, &wanted, true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
  return old;
}

template <class T>
inline T add(T* address, T value) {
  if constexpr (std::is_integral_v<T>) {
    tick();
    return __atomic_fetch_add(address, value, __ATOMIC_SEQ_CST);
  } else {
    return modify(address, [value](T old) { return static_cast<T>(old + value); });
  }
}
/// Each of the two halves is added atomically, as CUDA has it; here both at once.
template <class Pair>
inline Pair add_pair(Pair* address, Pair value) {
  using Word = WordOf<sizeof(Pair)>;
  const Word old = modify(reinterpret_cast<Word*>(address), [value](Word bits) {
    Pair pair;
    memcpy(static_cast<void*>(&pair), &bits, sizeof bits);
    pair.x = pair.x + value.x;
    pair.y = pair.y + value.y;
    memcpy(&bits, &pair, sizeof bits);
    return bits;
  });
  Pair result;
  memcpy(static_cast<void*>(&result), &old, sizeof old);
  return result;
}
template <class T>
inline T exchange(T* address, T value) {
  tick();
  T old;
  __atomic_exchange(address, &value, &old, __ATOMIC_SEQ_CST);
  return old;
}
template <class T>
inline T compare_and_swap(T* address, T compare, T value) {
  tick();
  __atomic_compare_exchange(address, &compare, &value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
  return compare;
}

}  // namespace causeway::emulator

#define CAUSEWAY_ATOMIC(name, T, call)                                              \
  inline T name(T* address, T value) { return ::causeway::emulator::call; }         \
  inline T name##_block(T* address, T value) { return ::causeway::emulator::call; } \
  inline T name##_system(T* address, T value) { return ::causeway::emulator::call; }
#define CAUSEWAY_ATOMIC_NEXT(name, T, next) \
  CAUSEWAY_ATOMIC(name, T, modify(address, [value](T old) { return static_cast<T>(next); }))

CAUSEWAY_ATOMIC(atomicAdd, int, add(address, value))
CAUSEWAY_ATOMIC(atomicAdd, unsigned, add(address, value))
CAUSEWAY_ATOMIC(atomicAdd, unsigned long long, add(address, value))
CAUSEWAY_ATOMIC(atomicAdd, float, add(address, value))
CAUSEWAY_ATOMIC(atomicAdd, double, add(address, value))
CAUSEWAY_ATOMIC(atomicAdd, __half, add(address, value))
CAUSEWAY_ATOMIC(atomicAdd, __nv_bfloat16, add(address, value))
CAUSEWAY_ATOMIC(atomicAdd, __half2, add_pair(address, value))
CAUSEWAY_ATOMIC(atomicAdd, __nv_bfloat162, add_pair(address, value))
CAUSEWAY_ATOMIC(atomicAdd, float2, add_pair(address, value))

CAUSEWAY_ATOMIC(atomicSub, int, add(address, static_cast<int>(0u - static_cast<unsigned>(value))))
CAUSEWAY_ATOMIC(atomicSub, unsigned, add(address, 0u - value))

CAUSEWAY_ATOMIC(atomicExch, int, exchange(address, value))
CAUSEWAY_ATOMIC(atomicExch, unsigned, exchange(address, value))
CAUSEWAY_ATOMIC(atomicExch, unsigned long long, exchange(address, value))
CAUSEWAY_ATOMIC(atomicExch, float, exchange(address, value))

#define CAUSEWAY_ATOMIC_INTEGERS(T)                             \
  CAUSEWAY_ATOMIC_NEXT(atomicMin, T, value < old ? value : old) \
  CAUSEWAY_ATOMIC_NEXT(atomicMax, T, old < value ? value : old) \
  CAUSEWAY_ATOMIC_NEXT(atomicAnd, T, old& value)                \
  CAUSEWAY_ATOMIC_NEXT(atomicOr, T, old | value)                \
  CAUSEWAY_ATOMIC_NEXT(atomicXor, T, old ^ value)
CAUSEWAY_ATOMIC_INTEGERS(int)
CAUSEWAY_ATOMIC_INTEGERS(unsigned)
CAUSEWAY_ATOMIC_INTEGERS(long long)
CAUSEWAY_ATOMIC_INTEGERS(unsigned long long)
#undef CAUSEWAY_ATOMIC_INTEGERS

CAUSEWAY_ATOMIC_NEXT(atomicInc, unsigned, old >= value ? 0 : old + 1)
CAUSEWAY_ATOMIC_NEXT(atomicDec, unsigned, old == 0 || old > value ? value : old - 1)
#undef CAUSEWAY_ATOMIC_NEXT
#undef CAUSEWAY_ATOMIC

#define CAUSEWAY_ATOMIC_CAS(T)                                                                            \
  inline T atomicCAS(T* address, T compare, T value) {                                                    \
    return ::causeway::emulator::compare_and_swap(address, compare, value);                               \
  }                                                                                                       \
  inline T atomicCAS_block(T* address, T compare, T value) { return atomicCAS(address, compare, value); } \
  inline T atomicCAS_system(T* address, T compare, T value) { return atomicCAS(address, compare, value); }
CAUSEWAY_ATOMIC_CAS(int)
CAUSEWAY_ATOMIC_CAS(unsigned)
CAUSEWAY_ATOMIC_CAS(unsigned long long)
CAUSEWAY_ATOMIC_CAS(unsigned short)
#undef CAUSEWAY_ATOMIC_CAS
