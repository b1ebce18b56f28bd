// One node of the device's graph of work.
#pragma once
#include <causeway/machine/cpu/device.hpp>

#include <atomic>

namespace causeway::cpu {

struct Operation {
  Device* device = nullptr;
  PeContext* pe = nullptr;
  std::shared_ptr<Kernel> kernel;  // or
  std::function<void()> task;      // one of the two; both empty: a marker, done as soon as it is ready
  LaunchShape shape;
  unsigned waits_for = 1;  // unfinished operations before it, plus one until submitted; guarded by Device::mutex_
  std::vector<OperationPtr> dependents;  // likewise
  std::atomic<bool> done{false};
  Event::Clock::time_point finished_at{};

  /// Called once, by the worker that ran the last of it.
  static void finish(const OperationPtr& operation) { operation->device->finished(operation); }
};

}  // namespace causeway::cpu
