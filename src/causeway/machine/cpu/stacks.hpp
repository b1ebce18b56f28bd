// Stacks for fibers, kept and reused by one worker.
#pragma once
#include <cstddef>
#include <vector>

namespace causeway::cpu {

/// Makes ThreadSanitizer forget what happened in a piece of reused memory (whole pages); else nothing.
void fresh_for_sanitizer(void* memory, size_t bytes);

class StackPool {
 public:
  explicit StackPool(size_t stack_bytes);
  ~StackPool();
  StackPool(const StackPool&) = delete;
  StackPool& operator=(const StackPool&) = delete;

  [[nodiscard]] size_t stack_bytes() const { return stack_bytes_; }
  /// The lowest address of a stack. Throws Error when the machine has no memory for it.
  char* take();
  void give(char* stack) { free_.push_back(stack); }
  /// True if the lowest bytes of the stack were written: the fiber used more than it had.
  [[nodiscard]] static bool overflowed(const char* stack);

 private:
  // One mapping for many stacks: a guard page each would exceed vm.max_map_count at 135,000 threads. The slab's lowest
  // page is a guard; the other stacks have a canary that is checked when the fiber ends.
  static constexpr size_t kStacksPerSlab = 64;
  size_t stack_bytes_;
  std::vector<char*> free_;
  std::vector<char*> slabs_;
};

}  // namespace causeway::cpu
