// The frames that a hub and its PEs exchange, and how their fields are written and read.
//
//   hub to PE: greeting(format, hub name)      network only: a PE sends its secret to no one who does not know the name
//   PE to hub: hello(format, secret, pe, pes, pid, pid space, process, nonce)
//   hub to PE: welcome(nonce) or refused(text)
//   PE to hub: gather(sequence, step, bytes)   answered by all(pes blocks of bytes) or failed(text)
//   PE to hub: who()                           answered by missing(text)
//   PE to hub: exit(status)                    every PE gets exit(pe, status)
//   PE to hub: start_failed(secret, text)      its nvshmem_init has failed; an empty text: a later one has not. The
//                                              launcher takes it before a hello, too
//   PE to hub: goodbye()                       answered by goodbye(), the last frame of a stay
//   hub to PE: lost(pe, cause), left(pe), hub_in(pe) (whose process the hub is in), closed()
//
// Both ends run the same build on hosts of the same byte order (checked by the magic number).
#pragma once
#include <causeway/base/error.hpp>
#include <causeway/base/process_identity.hpp>
#include <causeway/bootstrap/unique_id.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace causeway::wire {

using Bytes = std::vector<std::byte>;
/// A whole frame, shared by the queues of all connections that it goes to.
using SharedBytes = std::shared_ptr<const Bytes>;

inline constexpr std::uint32_t magic = 0x43575931;  // "CWY1"
inline constexpr std::uint32_t format = 3;
inline constexpr std::size_t step_bytes_max = 200;
/// What a hub accepts: small frames from a stranger, a gather from a PE it knows.
inline constexpr std::size_t hello_bytes_max = 256;
/// The same on a launcher's socket, whose other end only its PE has: a hello or start_failed.
inline constexpr std::size_t cause_bytes_max = 1500, launcher_hello_bytes_max = cause_bytes_max + 256;
inline constexpr std::size_t gather_bytes_max = (std::size_t{16} << 20) + step_bytes_max + 64;

enum class FrameType : std::uint32_t {
  greeting = 1,
  hello,
  welcome,
  refused,
  gather,
  all,
  failed,
  who,
  missing,
  exit,
  goodbye,
  lost,
  closed,
  left,
  hub_in,
  start_failed
};

struct FrameHeader {
  std::uint32_t magic;
  FrameType type;
  std::uint64_t bytes;  ///< of the body that follows
};
static_assert(sizeof(FrameHeader) == 16);

struct Frame {
  FrameType type;
  Bytes body;
};

/// Random; comes back with the welcome, so that one left unread by an earlier program on the socket is not taken for
/// it.
using Nonce = std::array<std::byte, 8>;

/// What a PE says of itself.
struct Hello {
  std::uint32_t format;
  Secret secret;
  std::int32_t pe, pes;
  std::uint32_t pid;
  std::uint32_t pid_space;  ///< pid_space_hash(): where equal, `pid` means the same process
  ProcessIdentity process;  ///< containers can be equal in all of the above
  Nonce nonce;
};
static_assert(sizeof(Hello) == 60);

struct Greeting {
  std::uint32_t format;
  HubName hub_name;
};
static_assert(sizeof(Greeting) == 12);

/// Builds a frame field by field.
class FrameWriter {
 public:
  explicit FrameWriter(FrameType type) : type_(type), bytes_(sizeof(FrameHeader)) {}
  template <class T>
  requires std::is_trivially_copyable_v<T> FrameWriter& value(const T& field) {
    return raw(std::as_bytes(std::span(&field, 1)));
  }
  FrameWriter& block(std::span<const std::byte> field) { return value(std::uint64_t{field.size()}).raw(field); }
  FrameWriter& text(std::string_view field) { return block(std::as_bytes(std::span(field))); }
  void reserve(std::size_t body_bytes) { bytes_.reserve(sizeof(FrameHeader) + body_bytes); }
  /// The finished frame; the writer is empty afterwards.
  [[nodiscard]] Bytes finish() {
    const FrameHeader header{magic, type_, bytes_.size() - sizeof(FrameHeader)};
    std::memcpy(bytes_.data(), &header, sizeof header);
    return std::move(bytes_);
  }
  [[nodiscard]] SharedBytes share() { return std::make_shared<const Bytes>(finish()); }

 private:
  FrameWriter& raw(std::span<const std::byte> field) {
    bytes_.insert(bytes_.end(), field.begin(), field.end());
    return *this;
  }
  FrameType type_;
  Bytes bytes_;
};

/// Reads a body field by field; throws Error when it is too short.
class FrameReader {
 public:
  explicit FrameReader(std::span<const std::byte> body) : rest_(body) {}
  template <class T>
  requires std::is_trivially_copyable_v<T>
  [[nodiscard]] T value() {
    T field;
    std::memcpy(&field, take(sizeof field).data(), sizeof field);
    return field;
  }
  [[nodiscard]] std::span<const std::byte> block() { return take(value<std::uint64_t>()); }
  [[nodiscard]] std::string text() {
    const auto field = block();
    return {reinterpret_cast<const char*>(field.data()), field.size()};
  }

 private:
  std::span<const std::byte> take(std::uint64_t bytes) {
    if (bytes > rest_.size())
      fail(Status::internal, "a frame field of {} bytes where {} are left", bytes, rest_.size());
    const auto field = rest_.first(bytes);
    rest_ = rest_.subspan(bytes);
    return field;
  }
  std::span<const std::byte> rest_;
};

/// Cuts a byte stream into frames.
class FrameCutter {
 public:
  void append(std::span<const std::byte> data) { bytes_.insert(bytes_.end(), data.begin(), data.end()); }
  /// The next whole frame, if there is one. Throws Error when the stream is not made of frames, or announces one whose
  /// body is larger than body_bytes_max: checked on the header, before any memory is spent on it.
  [[nodiscard]] std::optional<Frame> next(std::uint64_t body_bytes_max);

 private:
  Bytes bytes_;
  std::size_t used_ = 0;  // bytes of bytes_ that were cut off already
};

/// Compares in a time that does not depend on where the two differ.
[[nodiscard]] bool equal_secrets(const Secret& a, const Secret& b) noexcept;

}  // namespace causeway::wire
