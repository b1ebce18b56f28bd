// Loads and stores with cache hints, which have no meaning here, and questions about address spaces.
#pragma once
#include "thread.h"

#include <type_traits>

#define CAUSEWAY_HINTED_LOAD(name)  \
  template <class T>                \
  inline T name(const T* address) { \
    return *address;                \
  }
CAUSEWAY_HINTED_LOAD(__ldg)
CAUSEWAY_HINTED_LOAD(__ldca)
CAUSEWAY_HINTED_LOAD(__ldcs)
CAUSEWAY_HINTED_LOAD(__ldlu)
#undef CAUSEWAY_HINTED_LOAD

namespace causeway::emulator {
// Programs exchange values between threads through these: of numbers they are whole, and no data race.
template <class T>
T relaxed_load(const T* address) {
  if constexpr (std::is_arithmetic_v<T>) {
    T value;
    __atomic_load(address, &value, __ATOMIC_RELAXED);
    return value;
  } else {
    return *address;
  }
}
template <class T>
void relaxed_store(T* address, T value) {
  if constexpr (std::is_arithmetic_v<T>) {
    __atomic_store(address, &value, __ATOMIC_RELAXED);
  } else {
    *address = value;
  }
}
}  // namespace causeway::emulator

// These two read past the nearest cache, so programs spin on them: the compiler must load each time, others must run.
#define CAUSEWAY_FRESH_LOAD(name)                       \
  template <class T>                                    \
  inline T name(const T* address) {                     \
    ::causeway::emulator::tick();                       \
    asm volatile("" : : : "memory");                    \
    return ::causeway::emulator::relaxed_load(address); \
  }
CAUSEWAY_FRESH_LOAD(__ldcg)
CAUSEWAY_FRESH_LOAD(__ldcv)
#undef CAUSEWAY_FRESH_LOAD

#define CAUSEWAY_HINTED_STORE(name)                               \
  template <class T>                                              \
  inline void name(T* address, std::enable_if_t<true, T> value) { \
    ::causeway::emulator::relaxed_store(address, value);          \
  }
CAUSEWAY_HINTED_STORE(__stwb)
CAUSEWAY_HINTED_STORE(__stcg)
CAUSEWAY_HINTED_STORE(__stcs)
CAUSEWAY_HINTED_STORE(__stwt)
#undef CAUSEWAY_HINTED_STORE

/// Shared memory lies in the low 4 GiB, so 32-bit shared addresses are addresses as well.
inline size_t __cvta_generic_to_shared(const volatile void* pointer) { return reinterpret_cast<size_t>(pointer); }
inline size_t __cvta_generic_to_global(const volatile void* pointer) { return reinterpret_cast<size_t>(pointer); }
inline size_t __cvta_generic_to_local(const volatile void* pointer) { return reinterpret_cast<size_t>(pointer); }
inline size_t __cvta_generic_to_constant(const volatile void* pointer) { return reinterpret_cast<size_t>(pointer); }
inline void* __cvta_shared_to_generic(size_t address) { return reinterpret_cast<void*>(address); }
inline void* __cvta_global_to_generic(size_t address) { return reinterpret_cast<void*>(address); }
inline void* __cvta_local_to_generic(size_t address) { return reinterpret_cast<void*>(address); }
inline void* __cvta_constant_to_generic(size_t address) { return reinterpret_cast<void*>(address); }

namespace causeway::emulator {
enum class Space { shared, local, global };
/// Where the running GPU thread finds this address: its block's shared memory, its own stack, or anywhere else.
CAUSEWAY_EMULATOR_API Space address_space(const void* address);
}  // namespace causeway::emulator

inline unsigned __isShared(const void* pointer) {
  return ::causeway::emulator::address_space(pointer) == ::causeway::emulator::Space::shared;
}
inline unsigned __isLocal(const void* pointer) {
  return ::causeway::emulator::address_space(pointer) == ::causeway::emulator::Space::local;
}
inline unsigned __isGlobal(const void* pointer) {
  return ::causeway::emulator::address_space(pointer) == ::causeway::emulator::Space::global;
}
/// Constant variables are ordinary ones here.
inline unsigned __isConstant(const void*) { return 0; }
inline unsigned __isGridConstant(const void*) { return 0; }
