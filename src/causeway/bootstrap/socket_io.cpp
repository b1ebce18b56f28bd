#include <causeway/base/error.hpp>
#include <causeway/bootstrap/socket_io.hpp>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>

namespace causeway {

int poll_ms(Clock::time_point deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
  return static_cast<int>(std::clamp<decltype(left)>(left, 0, 24 * 3600 * 1000));
}

void tune_stream(int socket) {
  const auto set = [&](int level, int option, int value) {
    (void)::setsockopt(socket, level, option, &value, sizeof value);
  };
  set(IPPROTO_TCP, TCP_NODELAY, 1);
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, 10);
  set(IPPROTO_TCP, TCP_KEEPINTVL, 5);
  set(IPPROTO_TCP, TCP_KEEPCNT, 4);
}

namespace {

/// A listening socket at this address; `port` 0: at a free port, which it then is. Empty, with errno set: not to be
/// had.
UniqueFd try_listen(const Address& address, std::uint16_t& port) {
  UniqueFd socket(::socket(address.family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) return {};
  const int on = 1;
  // Connections of jobs that have ended occupy their ports for a minute: else thousands of jobs would use all up.
  (void)::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (address.family == AF_INET6) (void)::setsockopt(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
  SocketAddress at = to_socket_address(address, port);
  auto* const raw = reinterpret_cast<sockaddr*>(&at.storage);
  if (::bind(socket.get(), raw, at.length) != 0 || ::listen(socket.get(), SOMAXCONN) != 0 ||
      ::getsockname(socket.get(), raw, &at.length) != 0)
    return {};
  port = ntohs(address.family == AF_INET6 ? reinterpret_cast<sockaddr_in6*>(raw)->sin6_port
                                          : reinterpret_cast<sockaddr_in*>(raw)->sin_port);
  return socket;
}

}  // namespace

Listener listen_at(std::span<const Address> addresses) {
  constexpr int tries = 100;  // another program may have the port that one address gave at another address
  int cause = EADDRNOTAVAIL;
  for (int turn = 0; turn < tries; ++turn) {
    Listener listener;
    bool taken = false;
    for (const Address& address : addresses) {
      UniqueFd socket = try_listen(address, listener.port);
      if (!socket) cause = errno;
      if (!socket && (cause == EMFILE || cause == ENFILE)) fail_errno("cannot listen for the PEs of a unique id");
      taken = taken || (!socket && cause == EADDRINUSE);
      if (!socket) continue;
      listener.sockets.push_back(std::move(socket));
      listener.addresses.push_back(address);
    }
    if (!taken && !listener.sockets.empty()) return listener;
  }
  errno = cause;
  fail_errno("cannot listen for the PEs of a unique id");
}

void send_all(int socket, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(sent));
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      pollfd wait{socket, POLLOUT, 0};
      (void)::poll(&wait, 1, -1);
    } else if (errno != EINTR) {
      fail_errno("cannot send");
    }
  }
}

wire::Frame receive_frame(int socket, wire::FrameCutter& cutter, std::uint64_t body_bytes_max,
                          Clock::time_point deadline) {
  std::array<std::byte, 4096> chunk;
  for (;;) {
    if (auto frame = cutter.next(body_bytes_max)) return std::move(*frame);
    pollfd wait{socket, POLLIN, 0};
    if (::poll(&wait, 1, poll_ms(deadline)) == 0) fail(Status::internal, "no answer in time");
    const ssize_t got = ::recv(socket, chunk.data(), chunk.size(), MSG_DONTWAIT);
    if (got == 0) fail(Status::internal, "the other side closed the connection");
    if (got > 0)
      cutter.append(std::span(chunk).first(static_cast<std::size_t>(got)));
    else if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)
      fail_errno("cannot receive");
  }
}

}  // namespace causeway
