// What device code calls in the library: shared memory by key, address spaces, failed assertions.
#include <causeway/base/numbers.hpp>

#include <causeway_emulator.h>
#include <fmt/format.h>

#include <cstdlib>
#include <memory>
#include <unordered_map>

namespace causeway::emulator {
namespace {

struct FreeMemory {
  void operator()(void* memory) const { std::free(memory); }
};

/// "Shared memory" of a host thread that runs device code: zeroed, one instance a thread.
void* host_shared(const void* key, size_t bytes, size_t alignment) {
  thread_local std::unordered_map<const void*, std::unique_ptr<void, FreeMemory>> slots;
  auto& slot = slots[key];
  if (!slot) {
    slot.reset(std::aligned_alloc(alignment, rounded_up(bytes, alignment)));
    if (!slot) throw std::bad_alloc();
    std::memset(slot.get(), 0, bytes);
  }
  return slot.get();
}

bool within(const void* address, const void* base, size_t bytes) {
  const auto from = reinterpret_cast<uintptr_t>(base), at = reinterpret_cast<uintptr_t>(address);
  return at >= from && at - from < bytes;
}

constexpr size_t kHostDynamicShared = 64 * 1024;
constexpr size_t kArenaBytes = 232 * 1024;  // of a block: dynamic shared memory, then static
constexpr size_t kNearStack = 64 * 1024;    // a GPU thread's stack, unless set otherwise

}  // namespace

void* static_shared(const void* key, size_t bytes, size_t alignment) {
  return cpu::current ? cpu::static_shared(key, bytes, alignment) : host_shared(key, bytes, alignment);
}

void* dynamic_shared_memory() {
  static const char key = 0;
  return cpu::current ? cpu::dynamic_shared() : host_shared(&key, kHostDynamicShared, 128);
}

Space address_space(const void* address) {
  if (!cpu::current) return Space::global;
  // Dynamic shared memory begins the block's arena, static variables follow.
  if (within(address, cpu::dynamic_shared(), kArenaBytes)) return Space::shared;
  const char here = 0;
  return within(address, &here, kNearStack) ? Space::local : Space::global;
}

}  // namespace causeway::emulator

void __assertfail(const char* message, const char* file, unsigned line, const char* function, size_t) {
  // On the stack: the thread ends here, and nothing of it is destroyed.
  char text[512];
  const auto end =
      fmt::format_to_n(text, sizeof text - 1, "{}:{}: {}: assertion `{}' failed", file, line, function, message);
  *end.out = 0;
  causeway::cpu::trap(text);
}
