// See fd_exchange.hpp.
#include <causeway/base/error.hpp>
#include <causeway/heap/fd_exchange.hpp>
#include <fcntl.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstdint>
#include <cstring>
#include <string>

namespace causeway {
namespace {

/// What a PE tells of itself before descriptors travel.
struct Card {
  int pid;
  int fd;
  uint64_t secret;  // part of the socket's name, repeated in each message: nobody else's message is taken
};

sockaddr_un abstract_address(uint64_t secret, socklen_t& bytes) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string name = fmt::format("causeway-{:016x}", secret);
  std::memcpy(address.sun_path + 1, name.data(), name.size());  // a leading zero: no file, it ends with the socket
  bytes = socklen_t(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  return address;
}

struct Message {
  uint64_t secret;
  int pe;
};

/// True if sent; false if the receiver's queue is full for now.
bool try_send(int socket, const Card& to, int pe, int fd) {
  socklen_t bytes = 0;
  sockaddr_un address = abstract_address(to.secret, bytes);
  Message message{to.secret, pe};
  iovec part{&message, sizeof message};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof fd)] = {};
  msghdr header{};
  header.msg_name = &address;
  header.msg_namelen = bytes;
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control;
  header.msg_controllen = sizeof control;
  cmsghdr* rights = CMSG_FIRSTHDR(&header);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(sizeof fd);
  std::memcpy(CMSG_DATA(rights), &fd, sizeof fd);
  if (sendmsg(socket, &header, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0) return true;
  if (errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOBUFS || errno == ETOOMANYREFS) return false;
  fail_errno(fmt::format("passing a memory descriptor to PE {}", pe));
}

/// Takes one message, if there is a good one. (Its descriptor is missing if this process may have no more of them.)
bool try_receive(int socket, uint64_t secret, std::vector<UniqueFd>& fds) {
  Message message{};
  iovec part{&message, sizeof message};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * 4)] = {};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control;
  header.msg_controllen = sizeof control;
  const ssize_t got = recvmsg(socket, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (got < 0) return false;
  UniqueFd fd;
  for (cmsghdr* part_of = CMSG_FIRSTHDR(&header); part_of; part_of = CMSG_NXTHDR(&header, part_of))
    if (part_of->cmsg_level == SOL_SOCKET && part_of->cmsg_type == SCM_RIGHTS) {
      int number = -1;
      std::memcpy(&number, CMSG_DATA(part_of), sizeof number);
      fd.reset(number);
    }
  const bool good =
      size_t(got) == sizeof message && message.secret == secret && message.pe >= 0 && size_t(message.pe) < fds.size();
  if (good) fds[size_t(message.pe)] = std::move(fd);
  return good;
}

std::vector<Card> exchange_cards(Bootstrap& bootstrap, const Card& mine, std::string_view step) {
  const auto raw = bootstrap.allgather(std::as_bytes(std::span(&mine, 1)), step);
  std::vector<Card> cards(raw.size());
  for (size_t i = 0; i < raw.size(); ++i) std::memcpy(&cards[i], raw[i].data(), sizeof(Card));
  return cards;
}

}  // namespace

std::vector<UniqueFd> exchange_fds(Bootstrap& bootstrap, int mine, std::string_view step) {
  const int pes = bootstrap.pes(), me = bootstrap.pe();
  std::vector<UniqueFd> fds(static_cast<size_t>(pes));
  Card card{getpid(), mine, 0};
  if (getrandom(&card.secret, sizeof card.secret, 0) != sizeof card.secret) fail_errno("random bytes");
  UniqueFd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) fail_errno("a Unix socket to pass memory descriptors");
  socklen_t bytes = 0;
  const sockaddr_un address = abstract_address(card.secret, bytes);
  if (bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), bytes) != 0)
    fail_errno("binding a Unix socket to pass memory descriptors");

  const std::vector<Card> cards = exchange_cards(bootstrap, card, step);
  int to_send = 1, missing = 0;
  for (int pe = 0; pe < pes; ++pe) {
    if (cards[size_t(pe)].pid == card.pid) {
      fds[size_t(pe)].reset(fcntl(cards[size_t(pe)].fd, F_DUPFD_CLOEXEC, 0));
      if (!fds[size_t(pe)]) fail_errno("duplicating a memory descriptor");
    } else {
      ++missing;
    }
  }
  // Sends never block: all PEs send to all at once, and queues are short.
  while (to_send < pes || missing > 0) {
    bool moved = false;
    while (to_send < pes) {
      const int peer = (me + to_send) % pes;
      if (cards[size_t(peer)].pid != card.pid && !try_send(socket.get(), cards[size_t(peer)], me, mine)) break;
      ++to_send;
      moved = true;
    }
    while (missing > 0 && try_receive(socket.get(), card.secret, fds)) {
      --missing;
      moved = true;
    }
    if (moved) continue;
    pollfd wait{socket.get(), POLLIN, 0};
    poll(&wait, 1, to_send < pes ? 1 : 1000);
    if (const auto lost = bootstrap.lost_pes(); !lost.empty())
      fail(Status::internal, "step '{}': PE {} has ended and passes no memory descriptor", step, lost.front());
  }
  bootstrap.barrier(step);  // sockets and descriptors stay until everyone has them
  return fds;
}

}  // namespace causeway
