// One connection of a hub: a non-blocking socket with a buffer either way.
#pragma once
#include <causeway/base/unique_fd.hpp>
#include <causeway/bootstrap/fork_guard.hpp>
#include <causeway/bootstrap/socket_io.hpp>
#include <causeway/bootstrap/wire.hpp>

#include <cstdint>
#include <deque>
#include <optional>
#include <string>

namespace causeway {

class Connection {
 public:
  /// `peer` names the other side in errors: an address, or "PE 2".
  Connection(UniqueFd socket, std::string peer) : socket_(std::move(socket)), peer_(std::move(peer)) {}

  [[nodiscard]] int socket() const { return socket_.get(); }
  [[nodiscard]] const std::string& peer() const { return peer_; }
  [[nodiscard]] short poll_events() const;

  /// Reads what is there, a bounded amount so that one busy PE does not starve the others. Returns false when the
  /// stream has ended; `cause()` says how.
  [[nodiscard]] bool read_some();
  /// Cuts the next frame from what was read; see wire::FrameCutter::next.
  [[nodiscard]] std::optional<wire::Frame> next_frame(std::uint64_t body_bytes_max) {
    return input_.next(body_bytes_max);
  }
  /// Throws away what was read: of a refused stranger.
  void forget_input() { input_ = {}; }

  void send(wire::SharedBytes frame) { output_.push_back(std::move(frame)); }
  /// Writes what the socket takes. Returns false when the stream is broken.
  [[nodiscard]] bool flush();
  [[nodiscard]] bool flushed() const { return output_.empty(); }
  /// No more output; the peer sees the end of the stream after what was sent.
  void finish_output();

  [[nodiscard]] const std::string& cause() const { return cause_; }

  // What the hub knows of it.
  int pe = -1;                                  ///< once it has said hello
  int expected_pe = -1;                         ///< of the launcher's sockets: the only PE that may say hello on it
  pid_t owners_child = -1;                      ///< the process that the owner of such a socket watches
  bool is_owners_child = false;                 ///< it is the PE, not one behind it
  bool same_process = false;                    ///< the PE lives in the hub's process: told last that the job ends
  bool closing = false;                         ///< only waits for its last frame to be delivered
  bool ended = false;                           ///< to be removed
  std::optional<Clock::time_point> expires_at;  ///< a stranger's patience
  UniqueFd process;                             ///< a PE's process, where it can be watched: readable once it has ended

 private:
  PrivateFd socket_;
  std::string peer_;
  wire::FrameCutter input_;
  std::deque<wire::SharedBytes> output_;
  std::size_t sent_ = 0;  // bytes of output_.front()
  bool output_finished_ = false;
  std::string cause_;
};

}  // namespace causeway
