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
#include <vector>

namespace causeway {

using Clock = std::chrono::steady_clock;

/// The milliseconds from now to `deadline` as poll() wants them, rounded up, never negative.
[[nodiscard]] int poll_ms(Clock::time_point deadline);

/// For TCP: small frames leave at once, and a host that vanished is noticed within half a minute. Nothing for others.
void tune_stream(int socket);

/// Listens at these addresses and no other, at one port that is free at all of them. An address that cannot be had is
/// left out of `addresses`. Throws Error when none is left.
struct Listener {
  std::vector<UniqueFd> sockets;
  std::vector<Address> addresses;
  std::uint16_t port = 0;
};
[[nodiscard]] Listener listen_at(std::span<const Address> addresses);

/// Sends all bytes, waiting as long as it takes. Throws Error when the connection is gone.
void send_all(int socket, std::span<const std::byte> bytes);

/// Waits for the next frame. Throws Error when the connection ends, carries no frames, or the deadline passes.
[[nodiscard]] wire::Frame receive_frame(int socket, wire::FrameCutter& cutter, std::uint64_t body_bytes_max,
                                        Clock::time_point deadline);

}  // namespace causeway
