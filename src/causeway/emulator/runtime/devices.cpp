// Choosing devices, peers, limits, and waiting for a whole device.
#include <causeway/emulator/runtime/devices.hpp>
#include <causeway/emulator/runtime/properties.hpp>
#include <causeway/machine/cpu/context.hpp>
#include <causeway/machine/cpu/device.hpp>
#include <causeway_emulator/runtime_api.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <set>
#include <string>
#include <utility>

namespace causeway::emulator {
namespace {

int& thread_device() {
  thread_local int device = 0;
  return device;
}

/// A positive number in the environment, else 0.
int number_in_environment(const char* name) {
  const char* text = std::getenv(name);
  const long value = text ? std::strtol(text, nullptr, 10) : 0;
  return value > 0 && value <= 4096 ? int(value) : 0;
}

/// What the program set for the process: kept and given back, of no effect.
struct Settings {
  std::mutex mutex;
  std::array<size_t, 7> limits{1024, size_t{1} << 20, size_t{8} << 20, 2, 2048, 64, 0};
  cudaFuncCache cache = cudaFuncCachePreferNone;
  unsigned flags = cudaDeviceScheduleAuto;
  std::set<std::pair<int, int>> peers;  // (device, peer) with access enabled
};

Settings& settings() {
  static Settings& all = *new Settings;
  return all;
}

void check_peer(int peer) {
  check_device(peer);
  refuse_if(peer == selected_device(), cudaErrorInvalidDevice);
}

}  // namespace

int device_count() {
  if (const int set = cpu::pe_context().devices) return set;
  for (const char* name : {"CAUSEWAY_CPU_DEVICES", "CAUSEWAY_PES"})
    if (const int number = number_in_environment(name)) return number;
  return 1;
}

int selected_device() { return thread_device(); }

void check_device(int device) { refuse_if(device < 0 || device >= device_count(), cudaErrorInvalidDevice); }

void select_device(int device) {
  check_device(device);
  thread_device() = device;
  cpu::pe_context().selected_device = device;
}

}  // namespace causeway::emulator

using namespace causeway;
using namespace causeway::emulator;

cudaError_t cudaGetDeviceCount(int* count) {
  return host_call([&] {
    refuse_if(!count, cudaErrorInvalidValue);
    *count = device_count();
  });
}

cudaError_t cudaSetDevice(int device) {
  return host_call([&] { select_device(device); });
}

cudaError_t cudaGetDevice(int* device) {
  return host_call([&] {
    refuse_if(!device, cudaErrorInvalidValue);
    *device = selected_device();
  });
}

cudaError_t cudaInitDevice(int device, unsigned, unsigned) {
  return host_call([&] { check_device(device); });
}

cudaError_t cudaSetDeviceFlags(unsigned flags) {
  return host_call([&] {
    std::lock_guard lock(settings().mutex);
    settings().flags = flags;
  });
}

cudaError_t cudaGetDeviceFlags(unsigned* flags) {
  return host_call([&] {
    refuse_if(!flags, cudaErrorInvalidValue);
    std::lock_guard lock(settings().mutex);
    *flags = settings().flags;
  });
}

cudaError_t cudaDeviceGetPCIBusId(char* text, int length, int device) {
  return host_call([&] {
    check_device(device);
    const std::string id = pci_bus_id(device);
    refuse_if(!text || length <= int(id.size()), cudaErrorInvalidValue);
    std::memcpy(text, id.c_str(), id.size() + 1);
  });
}

cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* text) {
  return host_call([&] {
    refuse_if(!device || !text, cudaErrorInvalidValue);
    for (int candidate = 0; candidate < device_count(); ++candidate) {
      if (pci_bus_id(candidate) != text) continue;
      *device = candidate;
      return;
    }
    throw Refused{cudaErrorInvalidDevice};
  });
}

cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  return host_call([&] {
    refuse_if(!can, cudaErrorInvalidValue);
    check_device(device);
    check_device(peer);
    *can = device != peer;
  });
}

cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr attribute, int device, int peer) {
  return host_call([&] {
    refuse_if(!value || attribute < cudaDevP2PAttrPerformanceRank || attribute > cudaDevP2PAttrCudaArrayAccessSupported,
              cudaErrorInvalidValue);
    check_device(device);
    check_device(peer);
    refuse_if(device == peer, cudaErrorInvalidDevice);
    *value = attribute == cudaDevP2PAttrAccessSupported || attribute == cudaDevP2PAttrNativeAtomicSupported;
  });
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
  return device_call([&] {
    refuse_if(flags != 0, cudaErrorInvalidValue);
    check_peer(peer);
    std::lock_guard lock(settings().mutex);
    const bool added = settings().peers.emplace(selected_device(), peer).second;
    refuse_if(!added, cudaErrorPeerAccessAlreadyEnabled);
  });
}

cudaError_t cudaDeviceDisablePeerAccess(int peer) {
  return device_call([&] {
    check_peer(peer);
    std::lock_guard lock(settings().mutex);
    refuse_if(settings().peers.erase({selected_device(), peer}) == 0, cudaErrorPeerAccessNotEnabled);
  });
}

cudaError_t cudaDeviceSynchronize() {
  return device_call([] { cpu::device().synchronize(); });
}

// Memory stays: host threads of other PEs of the process may use it.
cudaError_t cudaDeviceReset() { return cudaDeviceSynchronize(); }

cudaError_t cudaDeviceGetLimit(size_t* value, cudaLimit limit) {
  return host_call([&] {
    refuse_if(!value, cudaErrorInvalidValue);
    refuse_if(size_t(limit) >= settings().limits.size(), cudaErrorUnsupportedLimit);
    std::lock_guard lock(settings().mutex);
    *value = settings().limits[limit];
  });
}

cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value) {
  return host_call([&] {
    refuse_if(size_t(limit) >= settings().limits.size(), cudaErrorUnsupportedLimit);
    std::lock_guard lock(settings().mutex);
    settings().limits[limit] = value;
  });
}

cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* config) {
  return host_call([&] {
    refuse_if(!config, cudaErrorInvalidValue);
    std::lock_guard lock(settings().mutex);
    *config = settings().cache;
  });
}

cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache config) {
  return host_call([&] {
    refuse_if(config < cudaFuncCachePreferNone || config > cudaFuncCachePreferEqual, cudaErrorInvalidValue);
    std::lock_guard lock(settings().mutex);
    settings().cache = config;
  });
}

cudaError_t cudaProfilerStart() { return cudaSuccess; }
cudaError_t cudaProfilerStop() { return cudaSuccess; }
