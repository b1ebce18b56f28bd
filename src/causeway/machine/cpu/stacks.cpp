#include <causeway/base/error.hpp>
#include <causeway/machine/cpu/stacks.hpp>
#include <causeway/machine/cpu/switch.hpp>
#include <sys/mman.h>

#include <cstdint>
#include <cstring>

#if CAUSEWAY_TSAN
extern "C" {
void AnnotateIgnoreWritesBegin(const char*, int);
void AnnotateIgnoreWritesEnd(const char*, int);
}
#endif

namespace causeway::cpu {
namespace {
constexpr size_t kGuardBytes = 4096;
constexpr uint64_t kCanary = 0x57ac4f1b3a5e0ff5u;
}  // namespace

void fresh_for_sanitizer(void* memory, size_t bytes) {
#if CAUSEWAY_TSAN
  // A new mapping has no history; what the former owner did there is no race with the next one's.
  AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
  mmap(memory, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
#else
  (void)memory;
  (void)bytes;
#endif
}

StackPool::StackPool(size_t stack_bytes) : stack_bytes_(stack_bytes) {
#if CAUSEWAY_TSAN
  free_.reserve(size_t{1} << 16);  // growing would run the library's instrumented code, on whichever fiber is here
  slabs_.reserve(1024);
#endif
}

StackPool::~StackPool() {
  for (char* slab : slabs_) munmap(slab, kGuardBytes + kStacksPerSlab * stack_bytes_);
}

char* StackPool::take() {
  if (free_.empty()) {
    const size_t bytes = kGuardBytes + kStacksPerSlab * stack_bytes_;
    void* slab =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (slab == MAP_FAILED) fail_errno("no memory for the stacks of 64 GPU threads");
    mprotect(slab, kGuardBytes, PROT_NONE);
    slabs_.push_back(static_cast<char*>(slab));
    for (size_t i = kStacksPerSlab; i-- > 0;)
      free_.push_back(static_cast<char*>(slab) + kGuardBytes + i * stack_bytes_);
  }
  char* stack = free_.back();
  free_.pop_back();
  fresh_for_sanitizer(stack, stack_bytes_);
#if CAUSEWAY_ASAN
  __asan_unpoison_memory_region(stack, stack_bytes_);
#endif
  std::memcpy(stack, &kCanary, sizeof kCanary);
  return stack;
}

bool StackPool::overflowed(const char* stack) { return std::memcmp(stack, &kCanary, sizeof kCanary) != 0; }

}  // namespace causeway::cpu
