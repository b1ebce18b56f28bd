// The seeded simulator: all PEs of a job on one OS thread, host code and GPU threads alike as fibers, in an order that
// only the seed decides. One PE at a time is stalled for a random stretch, and stores to peers stay in a buffer until a
// release orders them (or chance drains them, in any order that keeps each location's own), so that code which forgets
// a fence or a sync is seen to fail - and fails again with the same seed.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#pragma GCC visibility push(default)  // programs call these
namespace causeway::cpu {

struct Block;
struct Fiber;

struct SimulationOptions {
  int pes = 2;
  uint64_t seed = 1;
  uint64_t steps_max = 20'000'000;  // then the run counts as stuck
};

struct SimulationResult {
  std::string failure;        // empty: every PE's main returned
  std::vector<int> statuses;  // what they returned
  uint64_t steps = 0;
};

/// Runs `pe_main(pe)` for every PE. Not reentrant; a process that simulates has no workers.
SimulationResult simulate(const SimulationOptions&, const std::function<int(int pe)>& pe_main);

// ---------------------------------------------------------------- for machine_cpu.hpp, only while `simulated`
/// A store of at most 16 bytes that a peer may see late.
void buffered_store(void* to, const void* from, size_t bytes);
/// Makes every store that the calling thread made or has observed (through a warp or block sync) visible.
void buffered_release();
/// The caller's own buffered stores to this range become visible: a thread reads what it wrote.
void buffered_read(const void* from, size_t bytes);
/// Steps so far: the simulator's clock.
uint64_t simulator_steps();

// ---------------------------------------------------------------- for the scheduler
int simulator_ticks();
void simulator_yield_host();
void simulator_publish_to_block(Fiber&);
void simulator_publish_to_warp(Fiber&, unsigned mask);
void simulator_thread_ends(Fiber&);
void simulator_block_starts(Block&);
void simulator_block_ends(Block&);

}  // namespace causeway::cpu
#pragma GCC visibility pop
