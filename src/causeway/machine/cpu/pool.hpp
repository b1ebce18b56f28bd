// The workers of this process and what is ready for them.
#pragma once
#include <causeway/machine/cpu/block.hpp>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>

namespace causeway::cpu {

/// A block that a worker may start.
struct BlockTicket {
  std::shared_ptr<Grid> grid;
  unsigned index;
};

class Pool {
 public:
  /// The process's pool; never destroyed, since detached workers may outlive static destruction.
  static Pool& instance();

  /// Hands over an operation that waits for nothing any more.
  void ready(const OperationPtr&);
  std::optional<BlockTicket> take_block();
  OperationPtr take_task();
  /// Drops what is ready (the simulator, at the end of a run).
  void forget_all();
  /// Blocks a worker that has nothing at all until something is ready.
  void wait_for_work();
  [[nodiscard]] bool has_work() const { return waiting_items_.load(std::memory_order_relaxed) != 0; }

 private:
  void start_workers();

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::shared_ptr<Grid>> grids_;
  std::deque<OperationPtr> tasks_;
  std::atomic<unsigned> waiting_items_{0};
  unsigned idle_ = 0;
  bool started_ = false;
};

}  // namespace causeway::cpu
