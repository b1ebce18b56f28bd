// A translation unit's own copy of the device world, and how the library fills it: each unit registers, when the
// program loads, a function that writes its copy. So device code needs no relocatable device code and no device
// library, and it does not matter that every program and library may carry its own static CUDA runtime: the function is
// compiled into the unit and talks to the unit's.
#pragma once
#include <causeway/view/heap_view.hpp>

#include <cstdint>

struct CUstream_st;

namespace causeway {

struct UnitRegistration {
  uint64_t abi;
  /// Writes the unit's copy in stream order. 0 on success, else the machine's error number.
  int (*fill)(const DeviceWorld*, CUstream_st* stream);
  const char* file;
};

}  // namespace causeway

extern "C" void causeway_register_unit(const causeway::UnitRegistration*);
extern "C" void causeway_unregister_unit(const causeway::UnitRegistration*);

namespace causeway::unit {

#if defined(CAUSEWAY_LIBRARY)
/// The library's own code asks for the world of the calling PE.
const DeviceWorld& world();
#elif defined(CAUSEWAY_CPU)
__attribute__((visibility("hidden"))) inline DeviceWorld device_world;
inline const DeviceWorld& world() { return device_world; }
inline int fill(const DeviceWorld* filled, CUstream_st*) {
  device_world = *filled;
  return 0;
}
#elif !defined(CAUSEWAY_HOST_ONLY)
// With -rdc=true a second unit's static constant cannot be filled ("invalid argument"), while an inline one is merged
// and can; without it each unit has its own, so static is right (both seen on an H200).
#if defined(__CUDACC_RDC__)
inline __constant__ DeviceWorld device_world;
#else
static __constant__ DeviceWorld device_world;
#endif
CAUSEWAY_DEVICE const DeviceWorld& world() { return device_world; }
static int fill(const DeviceWorld* filled, CUstream_st* stream) {
  const cudaError_t copied =
      cudaMemcpyToSymbolAsync(device_world, filled, sizeof *filled, 0, cudaMemcpyHostToDevice, stream);
  return copied != cudaSuccess ? copied : cudaStreamSynchronize(stream);
}
#endif

#if !defined(CAUSEWAY_LIBRARY) && !defined(CAUSEWAY_HOST_ONLY)
static const UnitRegistration registration{kDeviceAbi, fill, __FILE__};
static struct Registrar {
  Registrar() { causeway_register_unit(&registration); }
  ~Registrar() { causeway_unregister_unit(&registration); }
} registrar;
#endif

}  // namespace causeway::unit
