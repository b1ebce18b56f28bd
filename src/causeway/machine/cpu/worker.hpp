// An OS thread that runs blocks: it switches among the fibers of a block, and among its resident blocks.
#pragma once
#include <causeway/machine/cpu/pool.hpp>
#include <causeway/machine/cpu/stacks.hpp>

#include <memory>
#include <string_view>
#include <vector>

namespace causeway::cpu {

class Worker {
 public:
  Worker();
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// Serves the pool for ever.
  void run();
  /// The worker whose fiber (or main loop) runs on this OS thread; null on host threads.
  static Worker* here();

  // ---- for fibers (called on a fiber of this worker)
  /// Gives the processor to another fiber of the block, or back to the main loop.
  void yield();
  /// Sleeps until a barrier or warp meeting pushes this fiber back into the queue.
  void wait_at(const char* site);
  [[noreturn]] void end_fiber();
  /// Drops the whole grid: its threads never run again.
  [[noreturn]] void fail_grid(std::string_view why);

  // ---- for the simulator, which chooses itself what runs
  [[nodiscard]] const std::vector<std::unique_ptr<Block>>& blocks() const { return blocks_; }
  bool admit_block();
  /// Runs a fiber until it gives the processor back.
  void resume(Block&, Fiber*);
  /// After resume(): frees the block if it has ended or failed. True if it did.
  bool retire(size_t block_number);
  Coroutine& main() { return main_; }
  StackPool& stacks() { return stacks_; }

 private:
  void prepare(Fiber&);
  void go(Fiber& from, Fiber* to, bool last);
  void drop_fibers(Block&);
  void report_deadlock(Block&);
  char* take_arena();
  bool run_task();

  Coroutine main_;
  StackPool stacks_;
  std::vector<char*> arenas_;
  std::vector<std::unique_ptr<Block>> blocks_;
  char* ended_stack_ = nullptr;  // of the fiber that ended last: freed once nobody stands on it
};

}  // namespace causeway::cpu
