// The reserved address space of a job's heaps in one process, which all its PEs use where one mapping serves them all.
#pragma once
#include <causeway/heap/memory.hpp>

#include <atomic>

namespace causeway {

class AddressRange {
 public:
  AddressRange(void* base, size_t bytes, int users) : base_(base), bytes_(bytes), users_(users) {}
  AddressRange(const AddressRange&) = delete;
  AddressRange& operator=(const AddressRange&) = delete;

  [[nodiscard]] void* base() const { return base_; }

  /// One user less; after the last one the address space is free and the object gone.
  static void leave(AddressRange* range, Memory& memory) {
    if (range->users_.fetch_sub(1) > 1) return;
    memory.release(range->base_, range->bytes_);
    delete range;
  }

 private:
  ~AddressRange() = default;

  void* base_;
  size_t bytes_;
  std::atomic<int> users_;
};

}  // namespace causeway
