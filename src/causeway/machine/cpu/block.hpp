// A thread block on the CPU machine: its fibers, their run queue, and where they meet.
#pragma once
#include <causeway/machine/cpu/device.hpp>
#include <causeway/machine/cpu/switch.hpp>
#include <causeway/machine/cpu/thread.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace causeway::cpu {

class Worker;
struct StoreBuffer;

/// A launch in execution: shared by all of its blocks.
struct Grid {
  Grid() = default;
  ~Grid();
  Grid(const Grid&) = delete;
  Grid& operator=(const Grid&) = delete;

  std::shared_ptr<Kernel> kernel;
  LaunchShape shape;
  PeContext* pe = nullptr;
  OperationPtr operation;  // told when the last block ends
  unsigned blocks = 0;
  std::atomic<unsigned> next_block{0}, blocks_left{0};
  std::atomic<unsigned> arrived{0}, phase{0};  // sync_grid
  std::atomic<bool> failed{false};             // a trap: its threads are dropped
};

/// Shared memory of a block: an H200's 227 KiB and room for alignment.
constexpr size_t kArenaBytes = 232 * 1024;

enum class FiberState : uint8_t { fresh, ready, waiting, done };

struct Fiber : Thread, Coroutine {
  Fiber* next = nullptr;  // in the run queue
  char* stack = nullptr;
  FiberState state = FiberState::fresh;
  // Where a completed warp meeting delivers: on the waiting thread's stack, because the meeting's slot is used again
  // at once, possibly by a group that this thread is not in. Null: it only meets.
  uint64_t* exchanged = nullptr;
  unsigned took_part = 0;
  const char* meets_at = "";  // the barrier it waits at
  StoreBuffer* stores = nullptr;  // simulator only
};

struct Barrier {
  unsigned arrived = 0, generation = 0;
  int vote = 0, vote_result = 0;
  std::vector<Fiber*> waiting;
};

struct Warp {
  unsigned alive = 0;             // mask
  unsigned meeting_now = 0;       // meetings that some lanes have come to
  StoreBuffer* stores = nullptr;  // simulator only: stores a warp sync made visible inside the warp
  // Threads of disjoint masks may meet at the same time (independent thread scheduling): up to 16 groups of two or
  // more.
  struct Meeting {
    unsigned mask = 0, arrived = 0;
    uint64_t values[32];
    Fiber* waiting[32];
  };
  static constexpr int kMeetingsMax = 16;
  std::unique_ptr<Meeting> meetings[kMeetingsMax];  // made when first needed: most kernels need one or none
};

struct Block {
  Block(Grid& grid, unsigned index, char* shared);
  ~Block();

  Grid& grid;
  std::shared_ptr<Grid> keep_alive;
  Index3 index;
  unsigned threads, started = 0, alive;
  std::vector<Fiber> fibers;
  Fiber *queue_head = nullptr, *queue_tail = nullptr;
  unsigned queued = 0;
  unsigned yields = 0;       // since something last happened in this block
  int waits_left = 1 << 16;  // and polls, until its worker looks at other work
  bool spinning = false;     // every thread only yields: let other blocks run
  Barrier barriers[16];
  std::vector<Warp> warps;
  char* shared;  // dynamic, then static
  size_t shared_used;
  std::vector<std::pair<const void*, void*>> slots;  // static shared variables by key
  StoreBuffer* stores = nullptr;  // simulator only: stores a block sync made visible inside the block

  void push(Fiber*);
  /// The next fiber to run: a fresh one while there are any, so that a spinning thread cannot keep the rest from
  /// starting.
  Fiber* pop();
  /// Any of the runnable ones, by number (choice < runnable_count()).
  Fiber* pop_choice(unsigned choice);
  [[nodiscard]] unsigned runnable_count() const { return queued + (started < threads ? 1 : 0); }
  [[nodiscard]] bool runnable() const { return queue_head || started < threads; }
  void release(Barrier&);
  /// A thread left: barriers and warp meetings no longer wait for it.
  void leave(Fiber&);
  void complete(Warp&, Warp::Meeting&);
  /// Who waits where, for reports: "2 threads at sync_block: t3 t5".
  [[nodiscard]] std::string describe_waiting() const;
};

// (Inline: they run once for every thread and barrier.)
inline void Block::push(Fiber* fiber) {
  fiber->next = nullptr;
  fiber->state = FiberState::ready;
  (queue_tail ? queue_tail->next : queue_head) = fiber;
  queue_tail = fiber;
  ++queued;
}

inline Fiber* Block::pop() {
  if (started < threads) return &fibers[started++];
  Fiber* fiber = queue_head;
  if (!fiber) return nullptr;
  queue_head = fiber->next;
  if (!queue_head) queue_tail = nullptr;
  --queued;
  return fiber;
}

/// The running fiber, with what the scheduler knows of it.
inline Fiber& self() { return *static_cast<Fiber*>(current); }

}  // namespace causeway::cpu
