// The kernels known by address, with what cudaFuncSetAttribute set.
#pragma once
#include <causeway/emulator/runtime/call.hpp>
#include <causeway_emulator/launch.h>

#include <mutex>
#include <unordered_map>

namespace causeway::emulator {

/// Dynamic shared memory that a kernel may have unless cudaFuncSetAttribute allows more.
inline constexpr size_t kDefaultDynamicShared = 48 * 1024;

struct KernelInfo {
  Thunk thunk = nullptr;  // null: attributes were set, but the address was never named as a kernel
  unsigned parameters = 0;
  size_t dynamic_shared_max = kDefaultDynamicShared;
};

class Kernels {
 public:
  void add(const void* function, Thunk thunk, unsigned parameters) {
    std::lock_guard lock(mutex_);
    KernelInfo& kernel = known_[function];
    kernel.thunk = thunk;
    kernel.parameters = parameters;
  }
  /// A launchable kernel; refuses other addresses.
  KernelInfo find(const void* function) {
    std::lock_guard lock(mutex_);
    const auto found = known_.find(function);
    refuse_if(found == known_.end() || !found->second.thunk, cudaErrorInvalidDeviceFunction);
    return found->second;
  }
  KernelInfo attributes(const void* function) {
    std::lock_guard lock(mutex_);
    const auto found = known_.find(function);
    return found == known_.end() ? KernelInfo{} : found->second;
  }
  void set_dynamic_shared_max(const void* function, size_t bytes) {
    std::lock_guard lock(mutex_);
    known_[function].dynamic_shared_max = bytes;
  }

 private:
  std::mutex mutex_;
  std::unordered_map<const void*, KernelInfo> known_;
};

Kernels& kernels();

}  // namespace causeway::emulator
