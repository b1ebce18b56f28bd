// See stacks.hpp.
#include <causeway/base/error.hpp>
#include <causeway/machine/cpu/stacks.hpp>
#include <causeway/machine/cpu/switch.hpp>
#include <sys/mman.h>

#include <cstdint>
#include <cstring>

namespace causeway::cpu {
namespace {
constexpr size_t kGuardBytes = 4096;
constexpr uint64_t kCanary = 0x57ac4f1b3a5e0ff5u;
}  // namespace

StackPool::~StackPool() {
  for (char* slab : slabs_) munmap(slab, kGuardBytes + kStacksPerSlab * stack_bytes_);
}

char* StackPool::take() {
  if (free_.empty()) {
    const size_t bytes = kGuardBytes + kStacksPerSlab * stack_bytes_;
    void* slab = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (slab == MAP_FAILED) fail_errno("no memory for the stacks of 64 GPU threads");
    mprotect(slab, kGuardBytes, PROT_NONE);
    slabs_.push_back(static_cast<char*>(slab));
    for (size_t i = kStacksPerSlab; i-- > 0;)
      free_.push_back(static_cast<char*>(slab) + kGuardBytes + i * stack_bytes_);
  }
  char* stack = free_.back();
  free_.pop_back();
#if CAUSEWAY_ASAN
  __asan_unpoison_memory_region(stack, stack_bytes_);
#endif
  std::memcpy(stack, &kCanary, sizeof kCanary);
  return stack;
}

bool StackPool::overflowed(const char* stack) { return std::memcmp(stack, &kCanary, sizeof kCanary) != 0; }

}  // namespace causeway::cpu
