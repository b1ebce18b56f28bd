#include <causeway/bootstrap/wire.hpp>

#include <cstdint>

namespace causeway::wire {
namespace {
constexpr std::size_t capacity_kept_bytes = std::size_t{1} << 20;  // a large gather is rare: do not sit on its memory
}

std::optional<Frame> FrameCutter::next(std::uint64_t body_bytes_max) {
  const std::size_t available = bytes_.size() - used_;
  FrameHeader header;
  if (available >= sizeof header.magic) {
    std::memcpy(&header.magic, bytes_.data() + used_, sizeof header.magic);
    if (header.magic != magic) fail(Status::internal, "bytes that are no frame of a Causeway bootstrap");
  }
  if (available < sizeof header) return std::nullopt;
  std::memcpy(&header, bytes_.data() + used_, sizeof header);
  if (header.bytes > body_bytes_max)
    fail(Status::internal, "a frame of {} bytes; at most {} are accepted here", header.bytes, body_bytes_max);
  const std::size_t whole = sizeof header + header.bytes;
  if (available < whole) {
    if (used_ > 0) {
      bytes_.erase(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(used_));
      used_ = 0;
    }
    return std::nullopt;
  }
  const auto body = bytes_.begin() + static_cast<std::ptrdiff_t>(used_ + sizeof header);
  Frame frame{header.type, Bytes(body, body + static_cast<std::ptrdiff_t>(header.bytes))};
  used_ += whole;
  if (used_ == bytes_.size()) {
    if (bytes_.capacity() > capacity_kept_bytes) Bytes().swap(bytes_);
    bytes_.clear();
    used_ = 0;
  }
  return frame;
}

bool equal_secrets(const Secret& a, const Secret& b) noexcept {
  unsigned difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) difference |= static_cast<unsigned>(a[i] ^ b[i]);
  return difference == 0;
}

}  // namespace causeway::wire
