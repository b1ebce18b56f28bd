// How waits of the CPU machine make themselves known, and its large copies.
#include <causeway/machine/cpu/block.hpp>
#include <causeway/machine/cpu/copy.hpp>

#include <atomic>

namespace causeway::machine {

namespace {
std::atomic<unsigned> dumps{0};
}

unsigned dumps_asked() { return dumps.load(std::memory_order_relaxed); }
void ask_for_dump() { dumps.fetch_add(1, std::memory_order_relaxed); }

// A call of its own, so that the C library's memcpy is not inlined into programs: it picks wide or streaming stores by
// the size.
void copy_large(void* to, const void* from, size_t bytes) { std::memcpy(to, from, bytes); }

}  // namespace causeway::machine
