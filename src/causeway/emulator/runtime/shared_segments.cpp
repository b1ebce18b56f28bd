#include <causeway/base/numbers.hpp>
#include <causeway/emulator/runtime/shared_segments.hpp>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <new>

namespace causeway::emulator {
namespace {

constexpr size_t kAlignment = 512;
constexpr size_t kSegmentBytes = size_t{64} << 20, kLargeBytes = size_t{4} << 20;

}  // namespace

/// One memfd with its mapping, and the ranges of it that are free, merged with their neighbours.
struct SharedSegments::Segment {
  explicit Segment(size_t size) : bytes(size) {
    fd.reset(memfd_create("causeway-device-memory", MFD_CLOEXEC));
    if (!fd || ftruncate(fd.get(), off_t(bytes)) != 0) throw std::bad_alloc();
    void* mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd.get(), 0);
    if (mapped == MAP_FAILED) throw std::bad_alloc();
    base = static_cast<char*>(mapped);
    free_ranges.emplace(0, bytes);
  }
  ~Segment() {
    if (base) munmap(base, bytes);
  }

  /// Offset of the first free range that is large enough, now taken; npos if there is none.
  size_t take(size_t wanted) {
    const auto range = std::find_if(free_ranges.begin(), free_ranges.end(),
                                    [&](const auto& candidate) { return candidate.second >= wanted; });
    if (range == free_ranges.end()) return npos;
    const auto [offset, size] = *range;
    free_ranges.erase(range);
    if (size > wanted) free_ranges.emplace(offset + wanted, size - wanted);
    return offset;
  }
  void give(size_t offset, size_t size) {
    auto next = free_ranges.lower_bound(offset);
    if (next != free_ranges.end() && offset + size == next->first) {
      size += next->second;
      next = free_ranges.erase(next);
    }
    if (next != free_ranges.begin()) {
      const auto before = std::prev(next);
      if (before->first + before->second == offset) {
        before->second += size;
        return;
      }
    }
    free_ranges.emplace(offset, size);
  }
  bool unused() const { return free_ranges.size() == 1 && free_ranges.begin()->second == bytes; }

  static constexpr size_t npos = size_t(-1);
  UniqueFd fd;
  size_t bytes;
  char* base = nullptr;
  std::map<size_t, size_t> free_ranges;  // offset to size
};

SharedSegments::SharedSegments() = default;
SharedSegments::~SharedSegments() = default;

SharedSegments::Piece SharedSegments::take(size_t bytes) {
  const size_t wanted = rounded_up(bytes, kAlignment);
  if (wanted < bytes) throw std::bad_alloc();
  if (wanted < kLargeBytes) {
    for (const auto& [base, segment] : segments_) {
      const size_t offset = segment->take(wanted);
      if (offset != Segment::npos) return {base + offset, segment->fd.get(), offset};
    }
  }
  // A large segment is exactly filled, so nothing small ever moves in.
  auto segment = std::make_unique<Segment>(wanted < kLargeBytes ? kSegmentBytes : rounded_up(wanted, 4096));
  const size_t taken = wanted < kLargeBytes ? wanted : segment->bytes;
  const Piece piece{segment->base, segment->fd.get(), segment->take(taken)};
  segments_.emplace(segment->base, std::move(segment));
  return piece;
}

void SharedSegments::give(const Piece& piece, size_t bytes) {
  const auto found = segments_.find(piece.address - piece.offset);
  Segment& segment = *found->second;
  const size_t wanted = rounded_up(bytes, kAlignment);
  segment.give(piece.offset, wanted < kLargeBytes ? wanted : segment.bytes);
  // The memory goes back to the system, except that one small segment stays for a program that frees and allocates.
  if (segment.unused() && (segment.bytes != kSegmentBytes || segments_.size() > 1)) segments_.erase(found);
}

}  // namespace causeway::emulator
