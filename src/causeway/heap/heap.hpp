// The symmetric heap of one PE: a reserved range in which every PE's heap lies at base + pe * stride, grown by
// segments.
#pragma once
#include <causeway/base/error.hpp>
#include <causeway/bootstrap/bootstrap.hpp>
#include <causeway/heap/address_range.hpp>
#include <causeway/heap/allocator.hpp>
#include <causeway/heap/fd_exchange.hpp>
#include <causeway/heap/memory.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace causeway {

struct HeapOptions {
  size_t first_segment_bytes = size_t{1} << 30;
  bool first_may_be_less = false;  // where memory is short: nobody has asked for just this size
  size_t stride = 0;               // 0: chosen
  FdExchangeOptions exchange;      // of the descriptors of its segments
};

class Heap {
 public:
  /// Blocks can be aligned to this; to the stride if that is less, since every PE's heap begins at a multiple of both.
  static constexpr size_t alignment_max = size_t{1} << 30;

  /// Collective, like all members that say so.
  Heap(Memory&, Bootstrap&, const HeapOptions&);
  ~Heap();
  Heap(const Heap&) = delete;
  Heap& operator=(const Heap&) = delete;

  /// Collective: the same size and alignment everywhere. `site` names the caller for the error text if they differ.
  /// Grows the heap if it is full. `problem`, here and below: what is wrong with the caller's other arguments; if it is
  /// not empty on one PE, all throw it. Throws Error(invalid_value), Error(symmetry), Error(out_of_memory).
  void* allocate(size_t bytes, size_t alignment, const std::string& site, const std::string& problem = {});
  /// Collective. Throws Error(invalid_value) if `block` is none, Error(symmetry) if PEs free different blocks.
  void free(void* block, const std::string& site);

  /// Collective: another block with the old contents, as far as they fit; the old one is freed. `copy` does the
  /// copying.
  void* reallocate(void* block, size_t bytes, const std::string& site,
                   const std::function<void(void* to, const void* from, size_t bytes)>& copy);

  /// Collective: maps memory of the program's own, the same size everywhere, and gives its symmetric address; takes it
  /// back.
  void* adopt(void* address, size_t bytes, const std::string& site, const std::string& problem = {});
  void release(void* symmetric, size_t bytes, const std::string& site);

  /// Blocks that were allocated by others than the library itself and are not freed, by their offsets.
  struct Block {
    size_t bytes;
    std::string site;
  };
  [[nodiscard]] const std::map<uint64_t, Block>& blocks() const { return blocks_; }
  /// What has been allocated so far is the library's own.
  void forget_blocks() { blocks_.clear(); }

  [[nodiscard]] uint64_t base() const { return base_; }  // of PE 0's heap
  [[nodiscard]] uint64_t stride() const { return stride_; }
  [[nodiscard]] char* own() const { return reinterpret_cast<char*>(base_ + uint64_t(bootstrap_.pe()) * stride_); }
  [[nodiscard]] uint64_t bytes() const { return bytes_; }  // mapped so far
  [[nodiscard]] const Allocator& allocator() const { return allocator_; }

 private:
  void agree_on_first_segment(bool may_be_less);
  /// Are this PE's mappings, and where they lie, also that one's?
  [[nodiscard]] bool shares_with(int pe) const {
    return memory_.serves_process() && processes_[size_t(pe)] == exchange_.process;
  }
  /// The first PE that this one shares mappings with: it maps what is other processes'.
  [[nodiscard]] int first_sharing() const;
  void reserve(size_t wanted);
  void grow(size_t bytes);
  /// Maps `mine` (or reports `error`) and everyone else's at the heap's end, which moves.
  void map_everywhere(std::unique_ptr<Segment> mine, std::optional<Error> error, size_t bytes);
  uint64_t reserve_block(size_t bytes, size_t alignment);
  /// Compares what all PEs are about to do; throws the same error on all if it differs, or if one has a problem with
  /// it.
  void agree(const std::string& what, const std::string& site, const std::string& problem = {});

  Memory& memory_;
  Bootstrap& bootstrap_;
  FdExchangeOptions exchange_;
  std::vector<ProcessIdentity> processes_;  // by PE
  AddressRange* range_ = nullptr;
  uint64_t base_ = 0, stride_ = 0, bytes_ = 0;
  size_t segment_bytes_;
  uint64_t calls_ = 0;
  std::vector<Mapping> mappings_;
  std::map<uint64_t, Block> blocks_;
  std::map<uint64_t, size_t> adopted_;  // the program's own memory: offset to bytes
  std::map<uint64_t, size_t> holes_;    // where such memory was
  Allocator allocator_;
};

}  // namespace causeway
