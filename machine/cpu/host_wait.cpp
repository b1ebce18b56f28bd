// How waits of the CPU machine make themselves known, and the copy that streams past the caches.
#include <causeway/machine/cpu/block.hpp>
#include <causeway/machine/machine_cpu.hpp>

#include <atomic>

namespace causeway::machine {

void note_spin(const WaitInfo* info) {
  if (cpu::current) cpu::self().spins_on = info;
}

namespace {
std::atomic<unsigned> dumps{0};
}

unsigned dumps_asked() { return dumps.load(std::memory_order_relaxed); }
void ask_for_dump() { dumps.fetch_add(1, std::memory_order_relaxed); }

// The C library's memcpy switches to non-temporal stores by itself at about three quarters of the shared cache, which on
// many-core machines is far above the 4 MB where streaming starts to pay for memory that another process reads.
void copy_large(void* to, const void* from, size_t bytes) { std::memcpy(to, from, bytes); }

}  // namespace causeway::machine
