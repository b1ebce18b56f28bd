// The live handles of one kind (events, graphs), so that a destroyed or invented one is refused and never followed.
#pragma once
#include <causeway/emulator/runtime/call.hpp>

#include <memory>
#include <mutex>
#include <unordered_map>

namespace causeway::emulator {

template <class T>
class Handles {
 public:
  template <class... Args>
  T* create(Args&&... args) {
    auto object = std::make_shared<T>(std::forward<Args>(args)...);
    std::lock_guard lock(mutex_);
    live_.emplace(object.get(), object);
    return object.get();
  }
  /// The object behind a handle; it stays while the caller holds it, even if another thread destroys the handle.
  std::shared_ptr<T> get(const T* handle) {
    std::lock_guard lock(mutex_);
    const auto found = live_.find(handle);
    refuse_if(found == live_.end(), cudaErrorInvalidResourceHandle);
    return found->second;
  }
  void destroy(const T* handle) {
    std::shared_ptr<T> last;  // destroyed after the lock
    std::lock_guard lock(mutex_);
    const auto found = live_.find(handle);
    refuse_if(found == live_.end(), cudaErrorInvalidResourceHandle);
    last = std::move(found->second);
    live_.erase(found);
  }

 private:
  std::mutex mutex_;
  std::unordered_map<const T*, std::shared_ptr<T>> live_;
};

/// The process's handles of one kind. Never destroyed: other threads may still use them while the process ends.
template <class T>
Handles<T>& handles() {
  static Handles<T>& all = *new Handles<T>;
  return all;
}

}  // namespace causeway::emulator
