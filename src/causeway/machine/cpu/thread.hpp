// What device code sees of the CPU machine: the GPU thread it runs as (a fiber), and the calls that may switch to
// another.
#pragma once
#include <cstddef>
#include <cstdint>

#pragma GCC visibility push(default)  // programs call these
namespace causeway::cpu {

struct Index3 {
  unsigned x, y, z;
};

struct Block;
struct PeContext;

/// One GPU thread. The scheduler owns it; translated code reads its indices.
struct Thread {
  Index3 thread, block, block_dim, grid_dim;
  unsigned linear;  // index in the block
  unsigned lane, warp;
  Block* home;
};

// Fibers never move to another OS thread, so compilers may keep these addresses across calls.
/// The GPU thread that runs now; null on host threads.
extern __thread Thread* current __attribute__((tls_model("initial-exec")));
/// Loop iterations until the running fiber lets others run.
extern __thread int ticks_left __attribute__((tls_model("initial-exec")));
/// True while the seeded simulator runs: stores to peers are buffered until a release.
extern bool simulated;

/// Lets other threads run: other fibers of the block, other blocks, then (sched_yield) other processes. On a host
/// thread it gives the processor away.
void yield();
/// A host thread's turn of a spin: a processor pause, now and then sched_yield (always, if there are more PEs than
/// cores).
void pause_host();
/// Polls between two sched_yields of pause_host.
void set_host_polls_per_yield(unsigned polls);
void tick_slow();
/// Called in every open loop of device code, so that a plain spin on a flag lets the thread it waits for run.
#if defined(__SANITIZE_THREAD__) || defined(CAUSEWAY_TSAN)
void tick();  // out of line: all fibers of an OS thread share the counter, which ThreadSanitizer would take for a race
#else
inline void tick() {
  if (__builtin_expect(--ticks_left < 0, 0)) tick_slow();
}
#endif

/// All threads of the block that have not returned; on a host thread nothing.
void sync_block();
enum class Vote { count, all, any };
/// sync_block that combines a predicate of every thread.
int sync_block_vote(int predicate, Vote vote);
/// PTX bar.sync / bar.arrive with an id (0-15) and a thread count (0: all of the block).
void sync_named(unsigned id, unsigned threads, bool wait);
/// Threads of `mask` in this warp meet; gives everyone's value (unless `values` is null). Returns the lanes that took
/// part.
unsigned exchange_warp(unsigned mask, uint64_t value, uint64_t values[32]);
void sync_warp(unsigned mask = 0xffffffffu);
/// Lanes of this warp that have not returned.
unsigned active_mask();
/// All blocks of the grid (cooperative groups' grid.sync).
void sync_grid();
/// Ends this GPU thread.
[[noreturn]] void exit_thread();
/// Ends the whole kernel as __trap does: the device then answers cudaErrorLaunchFailure.
[[noreturn]] void trap(const char* why);

/// A fence of device code that is not the library's: shows the simulator's buffered stores, and orders.
void fence();
/// This block's copy of the static shared variable that `key` names (made at first use).
void* static_shared(const void* key, size_t bytes, size_t alignment);
/// This block's dynamic shared memory.
void* dynamic_shared();

}  // namespace causeway::cpu
#pragma GCC visibility pop
