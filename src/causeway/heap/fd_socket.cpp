// See fd_socket.hpp. Each message travels on a connection of its own: when it is made, the kernel tells both sides who
// the other is, so that a descriptor does not go to somebody who has taken a dead PE's name either.
#include <causeway/base/error.hpp>
#include <causeway/base/random_bytes.hpp>
#include <causeway/heap/fd_socket.hpp>
#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

namespace causeway {
namespace {

/// In the abstract namespace: no file, and it ends with the socket.
sockaddr_un abstract_address(const FdCard& card, socklen_t& bytes) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::string name = "causeway-";
  for (const std::byte byte : card.name) name += fmt::format("{:02x}", int(byte));
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  bytes = socklen_t(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  return address;
}

/// Equal for processes in the same namespace; 0 without /proc.
uint64_t namespace_of(const char* file) {
  struct stat found {};
  return ::stat(file, &found) == 0 ? found.st_ino : 0;
}

bool same_and_known(uint64_t mine, uint64_t theirs) { return mine != 0 && mine == theirs; }

std::optional<uint32_t> uid_at_other_end(int connection) {
  ucred other{};
  socklen_t bytes = sizeof other;
  if (::getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &other, &bytes) != 0) return std::nullopt;
  return other.uid;
}

/// At either end: the kernel adds the sender's credentials. (A process cannot always name its own: in a user namespace
/// its uid may have no number.)
void want_credentials(int socket) {
  const int on = 1;
  if (::setsockopt(socket, SOL_SOCKET, SO_PASSCRED, &on, sizeof on) != 0)
    fail_errno("asking for the credentials of who passes memory descriptors");
}

/// The message and the descriptor.
ssize_t send_message(int connection, FdMessage message, int fd) {
  iovec part{&message, sizeof message};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof fd)] = {};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control;
  header.msg_controllen = sizeof control;
  cmsghdr* const rights = CMSG_FIRSTHDR(&header);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(sizeof fd);
  std::memcpy(CMSG_DATA(rights), &fd, sizeof fd);
  return ::sendmsg(connection, &header, MSG_DONTWAIT | MSG_NOSIGNAL);
}

}  // namespace

void fail_descriptor(const std::string& what) {
  rlimit limit{};
  if (errno == EMFILE && ::getrlimit(RLIMIT_NOFILE, &limit) == 0)
    fail(Status::internal, "{}: this process has too many open files; at most {} are allowed (ulimit -n)", what,
         limit.rlim_cur);
  fail_errno(what);
}

bool may_be(const FdCard& mine, const FdCard& theirs, uint32_t uid, std::optional<int32_t> pid) {
  if (same_and_known(mine.user_namespace, theirs.user_namespace) && uid != theirs.uid) return false;
  return !pid || !same_and_known(mine.pid_namespace, theirs.pid_namespace) || *pid == theirs.pid;
}

FdSocket::FdSocket(const ProcessIdentity& process, int fd)
    : listener_(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
  const std::string what = "a Unix socket to pass memory descriptors";
  if (!listener_) fail_descriptor(what);
  // There must be room for one to send from, one to take from and what comes: else better say so now than half-way,
  // when others wait.
  const auto another = [&] { return UniqueFd(::fcntl(listener_.get(), F_DUPFD_CLOEXEC, 3)); };
  const UniqueFd room[] = {another(), another(), another()};
  for (const UniqueFd& fd : room)
    if (!fd) fail_descriptor(what);
  fill_random(card_.name);
  fill_random(card_.secret);
  card_.process = process;
  card_.user_namespace = namespace_of("/proc/self/ns/user");
  card_.pid_namespace = namespace_of("/proc/self/ns/pid");
  card_.uid = ::geteuid();
  card_.pid = ::getpid();
  card_.fd = fd;
  want_credentials(listener_.get());
  socklen_t bytes = 0;
  const sockaddr_un address = abstract_address(card_, bytes);
  if (::bind(listener_.get(), reinterpret_cast<const sockaddr*>(&address), bytes) != 0 ||
      ::listen(listener_.get(), SOMAXCONN) != 0)
    fail_errno("binding a Unix socket to pass memory descriptors");
}

bool FdSocket::try_send(int pe, const FdCard& to, int own_pe, int fd) {
  const auto later = [] {  // its queue is full, or too many descriptors are on their way
    return errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOBUFS || errno == ETOOMANYREFS || errno == EINTR;
  };
  const UniqueFd connection(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!connection) fail_descriptor(fmt::format("passing a memory descriptor to PE {}", pe));
  want_credentials(connection.get());
  socklen_t bytes = 0;
  const sockaddr_un address = abstract_address(to, bytes);
  if (::connect(connection.get(), reinterpret_cast<const sockaddr*>(&address), bytes) != 0) {
    if (later()) return false;
    if (errno == ECONNREFUSED)
      fail(Status::internal,
           "PE {} cannot be passed a memory descriptor: nobody listens at its socket (it has ended, or it runs in "
           "another network namespace)",
           pe);
    fail_errno(fmt::format("passing a memory descriptor to PE {}", pe));
  }
  const auto uid = uid_at_other_end(connection.get());
  if (!uid) fail_errno(fmt::format("asking who is at the socket of PE {}", pe));
  if (!may_be(card_, to, *uid))
    fail(Status::internal, "at the socket of PE {}, which runs as user {}, is a process of user {}", pe, to.uid, *uid);
  if (send_message(connection.get(), {to.secret, own_pe}, fd) >= 0) return true;
  if (later()) return false;
  fail_errno(fmt::format("passing a memory descriptor to PE {}", pe));
}

std::optional<FdSocket::Received> FdSocket::try_receive(std::span<const FdCard> cards) {
  std::optional<Received> received;
  std::erase_if(connections_, [&](const UniqueFd& connection) {
    if (received) return false;
    pollfd look{connection.get(), POLLIN, 0};
    if (::poll(&look, 1, 0) <= 0) return false;
    received = take(connection.get(), cards);
    return true;
  });
  while (!received) {
    UniqueFd connection(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!connection) {
      if (errno == EINTR || errno == ECONNABORTED) continue;
      if (errno == EAGAIN || errno == EWOULDBLOCK) break;
      fail_descriptor("taking a memory descriptor of a PE");
    }
    // Strangers are not waited for: each would hold one of this process's descriptors.
    const auto uid = uid_at_other_end(connection.get());
    const auto is_it = [&](const FdCard& card) { return may_be(card_, card, *uid); };
    if (!uid || std::none_of(cards.begin(), cards.end(), is_it)) continue;
    want_credentials(connection.get());
    pollfd look{connection.get(), POLLIN, 0};
    if (::poll(&look, 1, 0) > 0)
      received = take(connection.get(), cards);
    else
      connections_.push_back(std::move(connection));
  }
  return received;
}

std::optional<FdSocket::Received> FdSocket::take(int connection, std::span<const FdCard> cards) const {
  FdMessage message;
  iovec part{&message, sizeof message};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(ucred)) + CMSG_SPACE(sizeof(int))] = {};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control;
  header.msg_controllen = sizeof control;
  const ssize_t got = ::recvmsg(connection, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (got < 0) return std::nullopt;
  // All descriptors are taken in hand first, so that none stays open whatever is wrong with the message. (There is room
  // for one, and by alignment for a second; the kernel closes further ones.)
  std::vector<UniqueFd> fds;
  fds.reserve(16);
  std::optional<ucred> sender;
  for (cmsghdr* item = CMSG_FIRSTHDR(&header); item; item = CMSG_NXTHDR(&header, item)) {
    if (item->cmsg_level != SOL_SOCKET) continue;
    if (item->cmsg_type == SCM_CREDENTIALS) std::memcpy(&sender.emplace(), CMSG_DATA(item), sizeof(ucred));
    if (item->cmsg_type != SCM_RIGHTS) continue;
    for (size_t at = CMSG_LEN(0); at + sizeof(int) <= item->cmsg_len; at += sizeof(int)) {
      int fd = -1;
      std::memcpy(&fd, reinterpret_cast<const char*>(item) + at, sizeof fd);
      fds.emplace_back(fd);
    }
  }
  const bool lost = fds.empty() && (header.msg_flags & MSG_CTRUNC) != 0;
  const auto uid = uid_at_other_end(connection);  // the effective one; with the message comes the real one
  if (size_t(got) != sizeof message || (header.msg_flags & MSG_TRUNC) != 0 || message.secret != card_.secret ||
      message.pe < 0 || size_t(message.pe) >= cards.size() || (fds.size() != 1 && !lost) || !sender || !uid ||
      !may_be(card_, cards[size_t(message.pe)], *uid, sender->pid))
    return std::nullopt;
  return Received{message.pe, lost ? UniqueFd() : std::move(fds.front())};
}

void FdSocket::wait(int milliseconds) const {
  std::vector<pollfd> set{{listener_.get(), POLLIN, 0}};
  for (const UniqueFd& connection : connections_) set.push_back({connection.get(), POLLIN, 0});
  (void)::poll(set.data(), set.size(), milliseconds);
}

}  // namespace causeway
