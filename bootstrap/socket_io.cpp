// See socket_io.hpp.
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

std::optional<Listener> try_listen(int family, bool both_families) {
  Listener listener{UniqueFd(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)), 0};
  if (!listener.socket) return std::nullopt;
  if (family == AF_INET6) {
    const int only_ipv6 = both_families ? 0 : 1;
    if (::setsockopt(listener.socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, &only_ipv6, sizeof only_ipv6) != 0)
      return std::nullopt;
  }
  SocketAddress any = to_socket_address(Address{family, {}}, 0);
  auto* const raw = reinterpret_cast<sockaddr*>(&any.storage);
  if (::bind(listener.socket.get(), raw, any.length) != 0 || ::listen(listener.socket.get(), SOMAXCONN) != 0 ||
      ::getsockname(listener.socket.get(), raw, &any.length) != 0)
    return std::nullopt;
  listener.port = ntohs(family == AF_INET6 ? reinterpret_cast<sockaddr_in6*>(raw)->sin6_port
                                           : reinterpret_cast<sockaddr_in*>(raw)->sin_port);
  return listener;
}

}  // namespace

Listener listen_anywhere(int family) {
  std::optional<Listener> listener;
  if (family != AF_INET) listener = try_listen(AF_INET6, family == AF_UNSPEC);
  if (!listener && family != AF_INET6) listener = try_listen(AF_INET, false);
  if (!listener) fail_errno("cannot listen for the PEs of a unique id");
  return std::move(*listener);
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
