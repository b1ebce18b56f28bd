// Where GPU threads meet: block barriers, warp exchanges, grid barriers; and what else a running thread asks for.
#include <causeway/base/numbers.hpp>
#include <causeway/machine/cpu/context.hpp>
#include <causeway/machine/cpu/simulator.hpp>
#include <causeway/machine/cpu/worker.hpp>
#include <sched.h>

#include <cstdint>
#include <atomic>
#include <cstring>

namespace causeway::cpu {
namespace {

void meet(Block& block, Barrier& barrier, unsigned needed, const char* site) {
  sanitizer_release(&barrier);
  if (++barrier.arrived >= needed) {
    block.release(barrier);
  } else {
    barrier.waiting.push_back(&self());
    Worker::here()->wait_at(site);
  }
  sanitizer_acquire(&barrier);
}

Warp::Meeting& meeting_for(Warp& warp, unsigned mask) {
  Warp::Meeting* free_slot = nullptr;
  for (auto& slot : warp.meetings) {
    if (!slot) {
      if (!free_slot) {
        slot = std::make_unique<Warp::Meeting>();
        free_slot = slot.get();
      }
      break;  // slots are made in order: there are no more
    }
    if (slot->arrived && slot->mask == mask) return *slot;
    if (!slot->arrived && !free_slot) free_slot = slot.get();
  }
  if (!free_slot) Worker::here()->fail_grid("more than 16 groups of one warp meet at the same time");
  ++warp.meeting_now;
  return *free_slot;
}

}  // namespace

void yield() {
  if (current) {
    Worker::here()->yield();
  } else if (simulated) {
    simulator_yield_host();
  } else {
    sched_yield();
  }
}

namespace {
std::atomic<unsigned> host_polls_per_yield{64};
}

void set_host_polls_per_yield(unsigned polls) { host_polls_per_yield.store(polls, std::memory_order_relaxed); }

void pause_host() {
  static __thread unsigned polls = 0;
  if (++polls < host_polls_per_yield.load(std::memory_order_relaxed)) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
    return;
  }
  polls = 0;
  sched_yield();
}

void tick_slow() {
  ticks_left = 64;
  if (current) Worker::here()->yield();
}

#if CAUSEWAY_TSAN
void tick() {
  if (--ticks_left < 0) tick_slow();
}
#endif

void sync_block() {
  if (!current) return;
  if (simulated) simulator_publish_to_block(self());
  Block& block = *current->home;
  meet(block, block.barriers[0], block.alive, "block sync");
}

int sync_block_vote(int predicate, Vote vote) {
  if (!current) return vote == Vote::count ? predicate != 0 : predicate;
  if (simulated) simulator_publish_to_block(self());
  Block& block = *current->home;
  Barrier& barrier = block.barriers[0];
  if (barrier.arrived == 0) barrier.vote = vote == Vote::all;
  if (vote == Vote::count) barrier.vote += predicate != 0;
  if (vote == Vote::all) barrier.vote &= predicate != 0;
  if (vote == Vote::any) barrier.vote |= predicate != 0;
  meet(block, barrier, block.alive, "block sync with a vote");
  return barrier.vote_result;
}

void sync_named(unsigned id, unsigned threads, bool wait) {
  if (!current) return;
  if (simulated) simulator_publish_to_block(self());
  Block& block = *current->home;
  Barrier& barrier = block.barriers[id % 16];
  const unsigned needed = threads ? threads : block.alive;
  if (wait) {
    meet(block, barrier, needed, "named barrier");
  } else if (++barrier.arrived >= needed) {
    block.release(barrier);
  }
}

unsigned exchange_warp(unsigned mask, uint64_t value, uint64_t values[32]) {
  if (!current) {  // a host thread is a warp of one
    if (values) values[0] = value;
    return 1;
  }
  Fiber& fiber = self();
  Block& block = *fiber.home;
  Warp& warp = block.warps[fiber.warp];
  if (!(mask >> fiber.lane & 1)) Worker::here()->fail_grid("a warp operation's mask lacks the caller");
  if (simulated) simulator_publish_to_warp(fiber, mask);
  Warp::Meeting& meeting = meeting_for(warp, mask & warp.alive);
  meeting.mask = mask & warp.alive;
  meeting.values[fiber.lane] = value;
  meeting.arrived |= 1u << fiber.lane;
  meeting.waiting[fiber.lane] = nullptr;
  sanitizer_release(&meeting);
  if (meeting.arrived == meeting.mask) {
    if (values) std::memcpy(values, meeting.values, sizeof meeting.values);
    fiber.took_part = meeting.arrived;
    block.complete(warp, meeting);
    sanitizer_release(&meeting);  // the others read what complete() has written
  } else {
    fiber.exchanged = values;
    meeting.waiting[fiber.lane] = &fiber;
    Worker::here()->wait_at("warp operation");
  }
  sanitizer_acquire(&meeting);
  return fiber.took_part;
}

void sync_warp(unsigned mask) {
  if (!current) return;
  exchange_warp(mask, 0, nullptr);
}

unsigned active_mask() { return current ? self().home->warps[current->warp].alive : 1; }

void sync_grid() {
  if (!current) return;
  sync_block();
  Grid& grid = self().home->grid;
  if (current->linear == 0) {
    sanitizer_release(&grid.arrived);
    const unsigned phase = grid.phase.load();
    if (grid.arrived.fetch_add(1) + 1 == grid.blocks) {
      grid.arrived = 0;
      grid.phase.fetch_add(1);
    } else {
      while (grid.phase.load() == phase) Worker::here()->yield();
    }
    sanitizer_acquire(&grid.arrived);
  }
  sync_block();
}

void exit_thread() { Worker::here()->end_fiber(); }

void trap(const char* why) { Worker::here()->fail_grid(why); }

void* static_shared(const void* key, size_t bytes, size_t alignment) {
  Block& block = *self().home;
  for (const auto& [known, address] : block.slots)
    if (known == key) return address;
  const size_t offset = rounded_up(block.shared_used, alignment);
  if (offset + bytes > kArenaBytes)
    Worker::here()->fail_grid("a block's static and dynamic shared memory exceed 232 KiB");
  block.shared_used = offset + bytes;
  block.slots.emplace_back(key, block.shared + offset);
  return block.shared + offset;
}

void fence() {
  if (simulated) buffered_release();
  __sync_synchronize();
}

void* dynamic_shared() { return self().home->shared; }

}  // namespace causeway::cpu
