#include <causeway/base/error.hpp>
#include <causeway/base/numbers.hpp>
#include <causeway/heap/agreement.hpp>
#include <causeway/heap/fd_exchange.hpp>
#include <causeway/heap/heap.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>

namespace causeway {
namespace {

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

/// What a PE is about to do, where, and what is wrong with it: three lines.
struct Call {
  explicit Call(const std::vector<std::byte>& raw) {
    const std::string_view text(reinterpret_cast<const char*>(raw.data()), raw.size());
    const size_t first = text.find('\n'), second = text.find('\n', first + 1);
    what = text.substr(0, first);
    site = text.substr(first + 1, second - first - 1);
    problem = text.substr(second + 1);
  }
  std::string_view what, site, problem;
};

}  // namespace

Heap::Heap(Memory& memory, Bootstrap& bootstrap, const HeapOptions& options)
    : memory_(memory),
      bootstrap_(bootstrap),
      exchange_(options.exchange),
      segment_bytes_(rounded_up(options.first_segment_bytes, memory.granularity())) {
  agree_on_first_segment(options.first_may_be_less);
  reserve(options.stride ? options.stride : memory.stride_wanted());
  try {
    grow(segment_bytes_);
  } catch (...) {
    AddressRange::leave(range_, memory_, {});
    throw;
  }
}

Heap::~Heap() { AddressRange::leave(range_, memory_, std::move(mappings_)); }

void Heap::agree_on_first_segment(bool may_be_less) {
  const size_t wanted = segment_bytes_, available = memory_.available(), granularity = memory_.granularity();
  if (may_be_less && wanted > available)
    segment_bytes_ = std::max(available / 2 / granularity, size_t{1}) * granularity;
  struct Wish {
    uint64_t wanted, possible;
    ProcessIdentity process;
  };
  const Wish mine{wanted, segment_bytes_, exchange_.process};
  const auto all = allgather(bootstrap_, mine, "agreeing on the heap's first segment");
  for (size_t pe = 0; pe < all.size(); ++pe) {
    const Wish& other = all[pe];
    if (other.wanted != wanted)
      fail(Status::symmetry, "NVSHMEM_SYMMETRIC_SIZE differs between PEs: {} bytes on PE {}, {} on PE {}", wanted,
           bootstrap_.pe(), other.wanted, pe);
    segment_bytes_ = std::min(segment_bytes_, size_t(other.possible));
    processes_.push_back(other.process);
  }
}

int Heap::first_sharing() const {
  int pe = 0;
  while (pe < bootstrap_.pe() && !shares_with(pe)) ++pe;
  return pe;
}

void Heap::reserve(size_t wanted) {
  // All PEs must use one stride: the least that any process could get, tried downwards from what is wanted.
  const size_t pes = size_t(bootstrap_.pes());
  const int first = first_sharing();
  const bool reserves = first == bootstrap_.pe();
  uint64_t stride = std::bit_ceil(std::max(wanted, segment_bytes_));
  void* reserved = nullptr;
  uint64_t taken = 0;
  const auto give_back = [&] {
    if (reserved) memory_.release(std::exchange(reserved, nullptr), taken);
  };
  const auto take = [&](uint64_t each) {
    reserved = memory_.reserve(taken = each * pes, std::min(each, uint64_t{alignment_max}));
    return reserved != nullptr;
  };
  while (reserves && stride >= segment_bytes_ && !take(stride)) stride /= 2;
  const uint64_t mine = !reserves || reserved ? stride : 0;
  uint64_t least = mine;
  try {
    const auto all = allgather(bootstrap_, mine, "agreeing on the heap's stride");
    least = *std::min_element(all.begin(), all.end());
  } catch (...) {
    give_back();
    throw;
  }
  if (least != mine) give_back();
  if (least == 0)
    fail(Status::out_of_memory,
         "no address space for the heaps of {} PEs of {} bytes each (NVSHMEM_SYMMETRIC_SIZE: try less)", pes,
         segment_bytes_);
  const auto error = error_in([&] {
    if (reserves && !reserved && !take(least))
      fail(Status::out_of_memory, "address space of {} bytes was there and is gone", least * pes);
  });
  int users = 0;
  for (int pe = 0; pe < int(pes); ++pe) users += shares_with(pe) || pe == bootstrap_.pe();
  if (reserved) range_ = new AddressRange(reserved, least * pes, users);
  try {
    range_ = allgather(bootstrap_, range_, "sharing address space")[size_t(first)];
    agree_on_success(bootstrap_, error, "sharing address space");
  } catch (...) {
    if (range_) AddressRange::leave(range_, memory_, {});
    throw;
  }
  stride_ = least;
  base_ = reinterpret_cast<uint64_t>(range_->base());
}

void Heap::grow(size_t bytes) {
  std::unique_ptr<Segment> mine;
  auto error = error_in([&] {
    if (bytes > stride_ - bytes_)
      fail(Status::out_of_memory,
           "the heap cannot grow by {} bytes: {} are mapped and a heap ends at {} (CAUSEWAY_HEAP_STRIDE)", bytes,
           bytes_, stride_);
    mine = memory_.make(bytes);
  });
  if (error && bytes_ == 0)
    error = Error(error->status(), std::string(error->what()) + " (NVSHMEM_SYMMETRIC_SIZE: try less)");
  const uint64_t begin = bytes_;
  map_everywhere(std::move(mine), std::move(error), bytes);
  allocator_.add(begin, bytes);
}

void Heap::map_everywhere(std::unique_ptr<Segment> mine, std::optional<Error> error, size_t bytes) {
  bool alone = true;  // all PEs are of this process
  for (int pe = 0; pe < bootstrap_.pes(); ++pe) alone = alone && shares_with(pe);
  UniqueFd exported;
  uint64_t offset = 0;
  if (!error)
    error = error_in([&] {
      offset = mine->offset();
      if (!alone) exported = memory_.export_segment(*mine);
    });
  agree_on_success(bootstrap_, error, "making a heap segment");

  std::vector<Mapping> mapped;
  const auto map_one = [&](int pe, std::unique_ptr<Segment> segment) {
    Mapping mapping{std::move(segment), reinterpret_cast<char*>(base_ + uint64_t(pe) * stride_ + bytes_)};
    memory_.map(*mapping.segment, mapping.address);
    mapped.push_back(std::move(mapping));
  };
  try {
    if (alone) {
      agree_on_success(bootstrap_, error_in([&] { map_one(bootstrap_.pe(), std::move(mine)); }),
                       "mapping heap segments");
    } else {
      const auto offsets = allgather(bootstrap_, offset, "passing heap segments");
      const bool maps_others = first_sharing() == bootstrap_.pe();
      const auto map = [&](int pe, UniqueFd fd) {
        if (pe == bootstrap_.pe()) return map_one(pe, std::move(mine));
        if (shares_with(pe) || !maps_others) return;
        map_one(pe, memory_.import_segment(std::move(fd), bytes, offsets[size_t(pe)]));
      };
      exchange_fds(bootstrap_, exported.get(), map, "passing heap segments", exchange_);
    }
  } catch (...) {
    for (auto& mapping : mapped) memory_.unmap(*mapping.segment, mapping.address);
    throw;
  }
  for (auto& mapping : mapped) mappings_.push_back(std::move(mapping));
  bytes_ += bytes;
}

void Heap::agree(const std::string& what, const std::string& site, const std::string& problem) {
  const auto all = bootstrap_.allgather(bytes_of(fmt::format("call {}: {}\n{}\n{}", ++calls_, what, site, problem)),
                                        "comparing a memory call");
  const std::vector<Call> calls(all.begin(), all.end());
  for (size_t pe = 0; pe < calls.size(); ++pe)
    if (!calls[pe].problem.empty()) fail(Status::invalid_value, "PE {}: {}", pe, calls[pe].problem);
  for (size_t pe = 0; pe < calls.size(); ++pe)
    if (calls[pe].what != calls[0].what)
      fail(Status::symmetry, "memory calls differ between PEs: PE 0 does {} at {}, PE {} does {} at {}", calls[0].what,
           calls[0].site, pe, calls[pe].what, calls[pe].site);
}

void* Heap::allocate(size_t bytes, size_t alignment, const std::string& site, const std::string& problem) {
  const size_t most = std::min<size_t>(alignment_max, stride_);
  const bool good = std::has_single_bit(alignment) && alignment <= most;
  agree(fmt::format("allocate {} bytes aligned to {}", bytes, alignment), site,
        !problem.empty() || good
            ? problem
            : fmt::format("alignment is {}: must be a power of two, at most {}{}", alignment, most,
                          most < alignment_max ? ", the heap's stride (CAUSEWAY_HEAP_STRIDE)" : ""));
  const uint64_t offset = reserve_block(bytes, alignment);
  blocks_[offset] = {bytes, site};
  return own() + offset;
}

uint64_t Heap::reserve_block(size_t bytes, size_t alignment) {
  auto offset = allocator_.allocate(bytes, alignment);
  if (!offset) {
    // The new segment may join a free range at the heap's end, but it alone must do.
    const size_t skipped = rounded_up(bytes_, std::max(alignment, Allocator::kAlignment)) - bytes_;
    if (bytes > SIZE_MAX / 2)
      fail(Status::out_of_memory, "{} bytes asked for; a heap ends at {} bytes", bytes, stride_);
    const size_t least = rounded_up(skipped + bytes + Allocator::kAlignment, memory_.granularity());
    const size_t usual = std::min<size_t>(segment_bytes_, stride_ - bytes_);
    try {
      grow(std::max(least, usual));
    } catch (const Error& error) {
      if (error.status() != Status::out_of_memory || usual <= least) throw;
      grow(least);  // memory is short; all PEs have had the same error
    }
    offset = allocator_.allocate(bytes, alignment);
  }
  if (!offset) fail(Status::internal, "a fresh segment has no room for {} bytes", bytes);
  return *offset;
}

void Heap::free(void* block, const std::string& site) {
  const uint64_t offset = uint64_t(static_cast<char*>(block) - own());
  // What lies outside of the heap has no offset that PEs could compare.
  agree(offset < bytes_ ? fmt::format("free the block at offset {:#x}", offset) : "free an address outside of the heap",
        site);
  if (!allocator_.free(offset))
    fail(Status::invalid_value, "ptr is {}: must be the beginning of an allocated block of the symmetric heap", block);
  blocks_.erase(offset);
}

void* Heap::reallocate(void* block, size_t bytes, const std::string& site,
                       const std::function<void(void* to, const void* from, size_t bytes)>& copy) {
  const uint64_t offset = uint64_t(static_cast<char*>(block) - own());
  agree(offset < bytes_ ? fmt::format("reallocate the block at offset {:#x} to {} bytes", offset, bytes)
                        : "reallocate an address outside of the heap",
        site);
  const auto before = allocator_.size_of(offset);
  if (!before)
    fail(Status::invalid_value, "ptr is {}: must be the beginning of an allocated block of the symmetric heap", block);
  const uint64_t now = reserve_block(bytes, 1);
  blocks_[now] = {bytes, site};
  copy(own() + now, block, std::min(*before, bytes));
  allocator_.free(offset);
  blocks_.erase(offset);
  return own() + now;
}

void* Heap::adopt(void* address, size_t bytes, const std::string& site, const std::string& problem) {
  agree(fmt::format("register {} bytes", bytes), site, problem);
  // No rounding up: behind what is mapped nothing may count as heap.
  std::unique_ptr<Segment> mine;
  auto error = error_in([&] {
    if (bytes == 0 || bytes > stride_ - bytes_)
      fail(Status::invalid_value,
           "size is {}: must be more than 0 and fit between the {} bytes mapped and the heap's end at {}", bytes,
           bytes_, stride_);
    mine = memory_.adopt(address, bytes);
  });
  const uint64_t offset = bytes_;
  map_everywhere(std::move(mine), std::move(error), bytes);
  adopted_[offset] = bytes;
  return own() + offset;
}

void Heap::release(void* symmetric, size_t bytes, const std::string& site) {
  const uint64_t offset = uint64_t(static_cast<char*>(symmetric) - own());
  agree(offset < bytes_ ? fmt::format("unregister {} bytes at offset {:#x}", bytes, offset)
                        : "unregister an address outside of the heap",
        site);
  const auto found = adopted_.find(offset);
  if (found == adopted_.end() || found->second != bytes)
    fail(Status::invalid_value,
         "ptr is {} and size {}: must be what nvshmemx_buffer_register_symmetric gave, and the size it was given",
         symmetric, bytes);
  std::erase_if(mappings_, [&](Mapping& mapping) {
    if ((reinterpret_cast<uint64_t>(mapping.address) - base_) % stride_ != offset) return false;
    memory_.unmap(*mapping.segment, mapping.address);
    return true;
  });
  adopted_.erase(found);
  holes_[offset] = bytes;
  // The heap ends before holes, so that addresses in them are refused. (One in the middle stays: it faults.)
  while (!holes_.empty() && holes_.rbegin()->first + holes_.rbegin()->second == bytes_) {
    bytes_ = holes_.rbegin()->first;
    holes_.erase(std::prev(holes_.end()));
  }
}

}  // namespace causeway
