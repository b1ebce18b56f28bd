// Descriptors that a forked child must not hold: an open socket would hide from the job that its PE has died, and what
// a child writes to it would be taken for the PE's words. (What it executes holds none of them anyway: close-on-exec.)
#pragma once
#include <causeway/base/unique_fd.hpp>

#include <utility>

namespace causeway {

/// While it lives, a forked child finds /dev/null under this number; the number itself stays taken, because the
/// child's copy of the owner may still close it.
class NotInChildren {
 public:
  NotInChildren() = default;
  explicit NotInChildren(int fd);
  NotInChildren(NotInChildren&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  NotInChildren& operator=(NotInChildren&& other) noexcept {
    if (this != &other) forget(), fd_ = std::exchange(other.fd_, -1);
    return *this;
  }
  ~NotInChildren() { forget(); }

 private:
  void forget() noexcept;
  int fd_ = -1;
};

/// A descriptor that closes itself, and that forked children do not have.
class PrivateFd {
 public:
  PrivateFd() = default;
  explicit PrivateFd(UniqueFd fd) : fd_(std::move(fd)), guard_(fd_.get()) {}
  [[nodiscard]] int get() const noexcept { return fd_.get(); }
  explicit operator bool() const noexcept { return bool(fd_); }
  void reset() noexcept { guard_ = {}, fd_.reset(); }

 private:
  UniqueFd fd_;
  NotInChildren guard_;  // goes first
};

}  // namespace causeway
