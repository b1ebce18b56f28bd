#include <causeway/bootstrap/connection.hpp>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <system_error>

namespace causeway {

short Connection::poll_events() const { return static_cast<short>(POLLIN | (output_.empty() ? 0 : POLLOUT)); }

bool Connection::read_some() {
  std::array<std::byte, 64 * 1024> chunk;
  for (int turn = 0; turn < 16; ++turn) {
    const ssize_t got = ::recv(socket_.get(), chunk.data(), chunk.size(), MSG_DONTWAIT);
    if (got > 0) {
      if (!closing) input_.append(std::span(chunk).first(static_cast<std::size_t>(got)));
    } else if (got == 0) {
      cause_ = "its connection ended without a goodbye (it died, was killed, or exited without finalizing)";
      return false;
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      return true;
    } else if (errno != EINTR) {
      cause_ = "its connection broke: " + std::generic_category().message(errno);
      return false;
    }
  }
  return true;
}

bool Connection::flush() {
  while (!output_.empty()) {
    const wire::Bytes& frame = *output_.front();
    const ssize_t sent = ::send(socket_.get(), frame.data() + sent_, frame.size() - sent_, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return true;
    if (sent < 0) {
      cause_ = "its connection broke: " + std::generic_category().message(errno);
      return false;
    }
    sent_ += static_cast<std::size_t>(sent);
    if (sent_ < frame.size()) continue;
    output_.pop_front();
    sent_ = 0;
  }
  return true;
}

void Connection::finish_output() {
  if (std::exchange(output_finished_, true)) return;
  (void)::shutdown(socket_.get(), SHUT_WR);
}

}  // namespace causeway
