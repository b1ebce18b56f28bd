// The socket at which a PE takes descriptors from the other PEs of its host, and the rules of what it takes: any
// program of the host can see the socket's name and send to it.
#pragma once
#include <causeway/base/unique_fd.hpp>
#include <causeway/base/process_identity.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace causeway {

/// What a PE tells of itself over the bootstrap before descriptors travel.
struct FdCard {
  std::array<std::byte, 16> name{};    // of its socket; /proc/net/unix shows it to everybody
  std::array<std::byte, 16> secret{};  // in each message to it; nobody but the job's PEs learns it
  ProcessIdentity process{};           // PEs of one process need no socket
  uint64_t user_namespace = 0;         // in which its uid is, and 0 where that cannot be known
  uint64_t pid_namespace = 0;          // in which its pid is; likewise
  uint32_t uid = 0;                    // the effective one
  int32_t pid = 0;
  int32_t fd = -1;  // for PEs of the same process
  uint32_t unused = 0;
};
static_assert(sizeof(FdCard) == 80);

/// Can a process that the kernel says has this uid and pid be the PE of the card `theirs`? Numbers of different or
/// unknown namespaces cannot be compared: there the secret alone decides.
[[nodiscard]] bool may_be(const FdCard& mine, const FdCard& theirs, uint32_t uid, std::optional<int32_t> pid = {});

struct FdMessage {
  std::array<std::byte, 16> secret{};  // the receiver's
  int32_t pe = -1;                     // the sender
};
static_assert(sizeof(FdMessage) == 20);

class FdSocket {
 public:
  /// Makes the socket and this process's card, with a new name and a new secret.
  explicit FdSocket(const ProcessIdentity& process, int fd);

  [[nodiscard]] const FdCard& card() const { return card_; }

  /// Passes `fd`, as that of `own_pe`. False if `pe` takes no more for now. Throws Error if it cannot be reached or is
  /// another process than its card says.
  [[nodiscard]] bool try_send(int pe, const FdCard& to, int own_pe, int fd);

  /// The next descriptor that a PE has sent; nothing if none has come. What others send is closed unseen. Throws Error
  /// if this process may have no more descriptors.
  struct Received {
    int pe;
    UniqueFd fd;  // none if it was lost: this process may have no more of them
  };
  [[nodiscard]] std::optional<Received> try_receive(std::span<const FdCard> cards);

  /// Returns when something may have come, after `milliseconds` at the latest.
  void wait(int milliseconds) const;

 private:
  std::optional<Received> take(int connection, std::span<const FdCard> cards) const;

  FdCard card_;
  UniqueFd listener_;
  std::vector<UniqueFd> connections_;  // that have sent nothing so far
};

/// Throws Error: `what` and errno's text, with the limit if this process has too many open files.
[[noreturn]] void fail_descriptor(const std::string& what);

}  // namespace causeway
