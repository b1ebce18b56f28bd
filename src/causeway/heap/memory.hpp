// Makes memory that other PEs of the host can map. Backends implement it; the heap uses it.
#pragma once
#include <causeway/base/unique_fd.hpp>

#include <cstddef>
#include <memory>

namespace causeway {

/// Physical memory: this PE's or a peer's. Lives until destroyed; mappings of it end with unmap().
class Segment {
 public:
  virtual ~Segment() = default;
  [[nodiscard]] virtual size_t bytes() const = 0;
  [[nodiscard]] virtual size_t offset() const { return 0; }
};

class Memory {
 public:
  virtual ~Memory() = default;
  /// Sizes and addresses of segments are multiples of this.
  [[nodiscard]] virtual size_t granularity() const = 0;
  /// A stride at which no PE's heap can meet the next one's: a power of two above all memory there is.
  [[nodiscard]] virtual size_t stride_wanted() const = 0;
  /// Address space without memory, from a multiple of `alignment` (a power of two) on; null if there is not so much of
  /// it.
  virtual void* reserve(size_t bytes, size_t alignment) = 0;
  virtual void release(void* base, size_t bytes) = 0;
  /// Throws Error(out_of_memory) with what there was.
  virtual std::unique_ptr<Segment> make(size_t bytes) = 0;
  /// Memory that the program has allocated, as a segment: `bytes` from `address` on. Throws Error(invalid_value) with
  /// what it must be.
  virtual std::unique_ptr<Segment> adopt(void* address, size_t bytes) = 0;
  virtual UniqueFd export_segment(const Segment&) = 0;
  /// `offset`: where a peer's segment begins in what its descriptor names (Segment::offset there).
  virtual std::unique_ptr<Segment> import_segment(UniqueFd, size_t bytes, size_t offset) = 0;
  /// Once for each segment, after it was exported: no descriptor of it need stay open.
  virtual void map(Segment&, void* address) = 0;
  virtual void unmap(Segment&, void* address) = 0;
  /// Does what one PE of a process maps serve all PEs of the process?
  [[nodiscard]] virtual bool serves_process() const = 0;
  /// How much can be made; SIZE_MAX where that cannot be known.
  [[nodiscard]] virtual size_t available() const = 0;
};

}  // namespace causeway
