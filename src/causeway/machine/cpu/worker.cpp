#include <causeway/base/error.hpp>
#include <causeway/base/numbers.hpp>
#include <causeway/machine/cpu/context.hpp>
#include <causeway/machine/cpu/operation.hpp>
#include <causeway/machine/cpu/simulator.hpp>
#include <causeway/machine/cpu/worker.hpp>
#include <sched.h>
#include <sys/mman.h>

#include <cstdio>

namespace causeway::cpu {

__thread Thread* current __attribute__((tls_model("initial-exec"))) = nullptr;
__thread int ticks_left __attribute__((tls_model("initial-exec"))) = 64;

namespace {

constexpr int kTicksPerTurn = 64;
constexpr int kWaitsPerTurn = 1 << 12;  // of a block that has waited often
constexpr size_t kThreadsOfPolling = 16384;
constexpr size_t kStackBytes = 64 * 1024;

__thread Worker* worker_here = nullptr;

size_t stack_bytes() {
  const size_t bytes = machine_options().stack_bytes;
  return bytes ? rounded_up(bytes, 4096) : kStackBytes;
}

/// Counts waits and polls; true once in a while.
bool has_waited_long(Block& block, int polls) {
  if ((block.waits_left -= polls) > 0) return false;
  block.waits_left = kWaitsPerTurn;
  return true;
}

void fiber_main(boost::context::detail::transfer_t from) {
  first_arrival(from, worker_here->main());
  sanitizer_acquire(&self().home->grid);
  self().home->grid.kernel->run();
  worker_here->end_fiber();
}

}  // namespace

Worker* Worker::here() { return worker_here; }

Worker::Worker() : stacks_(stack_bytes()) {
  worker_here = this;
#if CAUSEWAY_TSAN
  main_.tsan = __tsan_get_current_fiber();
#endif
}

Worker::~Worker() {
  for (char* arena : arenas_) munmap(arena, kArenaBytes);
  worker_here = nullptr;
}

char* Worker::take_arena() {
  if (!arenas_.empty()) {
    char* arena = arenas_.back();
    arenas_.pop_back();
    fresh_for_sanitizer(arena, kArenaBytes);
    return arena;
  }
  // In the low 2 GiB, so that 32-bit shared-memory addresses (__cvta_generic_to_shared) are addresses.
  void* arena = mmap(nullptr, kArenaBytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_32BIT, -1, 0);
  if (arena == MAP_FAILED) fail_errno("no memory for a block's shared memory");
  return static_cast<char*>(arena);
}

// ---------------------------------------------------------------- switching

inline void Worker::prepare(Fiber& fiber) {
  if (__builtin_expect(fiber.state == FiberState::fresh, 0)) {
    fiber.stack = stacks_.take();
    const size_t bytes = stacks_.stack_bytes();
    fiber.stack_bottom = fiber.stack;
    fiber.stack_bytes = bytes;
    // Tops of neighbouring stacks are staggered: equal low address bits would all fall into the same cache sets.
    const size_t stagger = fiber.linear % 16 * 128;
    fiber.resume_at = boost::context::detail::make_fcontext(fiber.stack + bytes - stagger, bytes - stagger, fiber_main);
    fiber.state = FiberState::ready;
  }
  current = &fiber;
  ticks_left = simulated ? simulator_ticks() : kTicksPerTurn;
}

inline void Worker::go(Fiber& from, Fiber* to, bool last) {
  if (to) prepare(*to);
  switch_to(from, to ? static_cast<Coroutine&>(*to) : main_, last);
  if (ended_stack_) stacks_.give(std::exchange(ended_stack_, nullptr));
}

void Worker::resume(Block& block, Fiber* fiber) {
  PeContext* before = std::exchange(*pe_slot(), block.grid.pe);
  block.spinning = false;
  prepare(*fiber);
  switch_to(main_, *fiber);
  current = nullptr;
  *pe_slot() = before;
  if (ended_stack_) stacks_.give(std::exchange(ended_stack_, nullptr));
}

void Worker::yield() {
  Fiber& fiber = self();
  Block& block = *fiber.home;
  const bool all_started = block.started >= block.threads;
  if (simulated || block.grid.failed ||
      (all_started && (++block.yields > block.queued + 1 || has_waited_long(block, kTicksPerTurn)))) {
    sanitizer_release(&block.grid.failed);
    block.yields = 0;
    block.spinning = true;
    block.push(&fiber);
    go(fiber, nullptr, false);
    return;
  }
  if (!block.runnable()) return;
  sanitizer_release(&block.grid.failed);
  block.push(&fiber);
  Fiber* next = block.pop();
  if (next != &fiber) {
    go(fiber, next, false);
  } else {
    fiber.state = FiberState::ready;
    ticks_left = kTicksPerTurn;
  }
}

void Worker::wait_at(const char* site) {
  Fiber& fiber = self();
  sanitizer_release(&fiber.home->grid.failed);  // it may be dropped here, if the kernel fails
  fiber.state = FiberState::waiting;
  fiber.meets_at = site;
  Block& block = *fiber.home;
  // A block may poll by meetings (while (!__all_sync(...))), and what it waits for be another block or task of this
  // worker. One that computes looks the same, so it is left alone for long, and new blocks do not come without end.
  const bool look_around = !simulated && has_waited_long(block, 1);
  if (look_around) block.spinning = blocks_.size() * block.threads < kThreadsOfPolling;
  go(fiber, simulated || look_around ? nullptr : block.pop(), false);
}

void Worker::end_fiber() {
  Fiber& fiber = self();
  Block& block = *fiber.home;
  sanitizer_release(&block.grid.failed);
  if (simulated) simulator_thread_ends(fiber);
  if (StackPool::overflowed(fiber.stack))
    fail_grid("a GPU thread used more stack than it has (set CAUSEWAY_CPU_STACK)");
  block.leave(fiber);
  fiber.state = FiberState::done;
  // The one before may have ended by a switch to a fresh fiber, which does not come past the code that frees it.
  if (ended_stack_) stacks_.give(std::exchange(ended_stack_, nullptr));
  ended_stack_ = std::exchange(fiber.stack, nullptr);
  go(fiber, simulated ? nullptr : block.pop(), true);
  __builtin_unreachable();
}

void Worker::fail_grid(std::string_view why) {
  Fiber& fiber = self();
  Grid& grid = fiber.home->grid;
  grid.failed = true;
  sanitizer_release(&grid.failed);
  // (No local may outlive this: the fiber is never resumed, so destructors would not run.)
  grid.operation->device->fail(fmt::format("{}, block ({},{},{}) thread ({},{},{})", why, fiber.block.x, fiber.block.y,
                                           fiber.block.z, fiber.thread.x, fiber.thread.y, fiber.thread.z));
  fiber.state = FiberState::waiting;
  fiber.meets_at = "trap";
  go(fiber, nullptr, false);
  __builtin_unreachable();
}

// ---------------------------------------------------------------- blocks

bool Worker::admit_block() {
  auto ticket = Pool::instance().take_block();
  if (!ticket) return false;
  auto block = std::make_unique<Block>(*ticket->grid, ticket->index, take_arena());
  block->keep_alive = ticket->grid;
  sanitizer_release(ticket->grid.get());
#if CAUSEWAY_TSAN
  // Created here, not by a fiber: a TSan fiber inherits its creator's clock, and races would vanish.
  for (Fiber& fiber : block->fibers) fiber.tsan = __tsan_create_fiber(0);
#endif
  if (simulated) simulator_block_starts(*block);
  blocks_.push_back(std::move(block));
  return true;
}

void Worker::drop_fibers(Block& block) {
  for (Fiber& fiber : block.fibers) {
    if (fiber.stack) stacks_.give(std::exchange(fiber.stack, nullptr));
#if CAUSEWAY_TSAN
    __tsan_destroy_fiber(fiber.tsan);
#endif
  }
}

bool Worker::retire(size_t number) {
  Block& block = *blocks_[number];
  const std::shared_ptr<Grid> grid = block.keep_alive;
  if (block.alive > 0 && !grid->failed) {
    if (block.runnable()) return false;
    report_deadlock(block);
  }
  sanitizer_acquire(&grid->failed);  // what its threads did comes before the end of what they used
  drop_fibers(block);
  if (simulated) simulator_block_ends(block);
  arenas_.push_back(block.shared);
  grid->operation->device->retire_threads(block.threads);
  blocks_.erase(blocks_.begin() + long(number));
  sanitizer_release(&grid->blocks_left);
  if (grid->blocks_left.fetch_sub(1) == 1) {
    sanitizer_acquire(&grid->blocks_left);  // what the workers of the other blocks did
    sanitizer_acquire(&grid->failed);       // blocks that ended since, too
    Operation::finish(grid->operation);
  }
  sanitizer_release(&grid->blocks_left);
  return true;
}

void Worker::report_deadlock(Block& block) {
  block.grid.failed = true;
  block.grid.operation->device->fail(
      fmt::format("deadlock in block ({},{},{}): {} of {} threads are alive and none can run: {}", block.index.x,
                  block.index.y, block.index.z, block.alive, block.threads, block.describe_waiting()));
}

bool Worker::run_task() {
  OperationPtr task = Pool::instance().take_task();
  if (!task) return false;
  PeContext* before = std::exchange(*pe_slot(), task->pe);
  if (task->task) task->task();
  *pe_slot() = before;
  Operation::finish(task);
  return true;
}

void Worker::run() {
  unsigned idle_rounds = 0;
  for (;;) {
    bool progress = run_task();
    bool all_spin = true;
    for (const auto& block : blocks_) all_spin = all_spin && block->spinning;
    if (all_spin && admit_block()) progress = true;
    if (blocks_.empty() && !progress) {
      Pool::instance().wait_for_work();
      continue;
    }
    for (size_t i = 0; i < blocks_.size();) {
      Block& block = *blocks_[i];
      if (!block.grid.failed)
        if (Fiber* fiber = block.pop()) resume(block, fiber);
      if (retire(i)) {
        progress = true;
      } else {
        progress = progress || !block.spinning;
        ++i;
      }
    }
    idle_rounds = progress ? 0 : idle_rounds + 1;
    if (idle_rounds > 1) sched_yield();  // whoever these blocks wait for may need this core
  }
}

}  // namespace causeway::cpu
