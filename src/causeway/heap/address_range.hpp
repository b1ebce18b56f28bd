// The reserved address space of a job's heaps in one process, which all its PEs use where one mapping serves them all.
#pragma once
#include <causeway/heap/memory.hpp>

#include <iterator>
#include <mutex>
#include <vector>

namespace causeway {

/// A segment and its address.
struct Mapping {
  std::unique_ptr<Segment> segment;
  char* address;
};

class AddressRange {
 public:
  AddressRange(void* base, size_t bytes, int users) : base_(base), bytes_(bytes), users_(users) {}
  AddressRange(const AddressRange&) = delete;
  AddressRange& operator=(const AddressRange&) = delete;

  [[nodiscard]] void* base() const { return base_; }

  /// One user less. What it has mapped stays until the last one leaves, for the others may use it; then all of it is
  /// unmapped, the address space free and the object gone.
  static void leave(AddressRange* range, Memory& memory, std::vector<Mapping> mapped) {
    {
      std::lock_guard lock(range->mutex_);
      std::move(mapped.begin(), mapped.end(), std::back_inserter(range->mapped_));
      if (--range->users_ > 0) return;
    }
    for (const Mapping& mapping : range->mapped_) memory.unmap(*mapping.segment, mapping.address);
    range->mapped_.clear();
    memory.release(range->base_, range->bytes_);
    delete range;
  }

 private:
  ~AddressRange() = default;

  void* base_;
  size_t bytes_;
  std::mutex mutex_;
  int users_;
  std::vector<Mapping> mapped_;
};

}  // namespace causeway
