// The few socket calls that hub and PE share.
#pragma once
#include <causeway/base/unique_fd.hpp>
#include <causeway/bootstrap/addresses.hpp>
#include <causeway/bootstrap/wire.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace causeway {

using Clock = std::chrono::steady_clock;

/// The milliseconds from now to `deadline` as poll() wants them, rounded up, never negative.
[[nodiscard]] int poll_ms(Clock::time_point deadline);

/// For TCP: small frames leave at once, and a host that vanished is noticed within half a minute. Nothing for others.
void tune_stream(int socket);

/// Listens on a free port of every address: of both families where the host has IPv6, else of IPv4 alone.
/// `family` is AF_UNSPEC, AF_INET or AF_INET6.
struct Listener {
  UniqueFd socket;
  std::uint16_t port = 0;
};
[[nodiscard]] Listener listen_anywhere(int family);

/// Sends all bytes, waiting as long as it takes. Throws Error when the connection is gone.
void send_all(int socket, std::span<const std::byte> bytes);

/// Waits for the next frame. Throws Error when the connection ends, carries no frames, or the deadline passes.
[[nodiscard]] wire::Frame receive_frame(int socket, wire::FrameCutter& cutter, std::uint64_t body_bytes_max,
                                        Clock::time_point deadline);

}  // namespace causeway
