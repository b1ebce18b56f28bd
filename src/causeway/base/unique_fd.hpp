// A file descriptor that closes itself. It is never one of the standard streams' (0 to 2): in a program that was
// started with one of them closed, what is printed or read there would go to or come from the library's socket.
#pragma once
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace causeway {

class UniqueFd {
 public:
  UniqueFd() = default;
  /// Takes `fd`, or moves it to a number above 2; holds none, with errno set, where that fails.
  explicit UniqueFd(int fd) noexcept : fd_(above_standard(fd)) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    if (this != &other) {
      reset();
      fd_ = std::exchange(other.fd_, -1);
    }
    return *this;
  }
  ~UniqueFd() { reset(); }

  [[nodiscard]] int get() const noexcept { return fd_; }
  [[nodiscard]] int release() noexcept { return std::exchange(fd_, -1); }
  void reset(int fd = -1) noexcept {
    if (fd_ >= 0) ::close(fd_);
    fd_ = above_standard(fd);
  }
  explicit operator bool() const noexcept { return fd_ >= 0; }

 private:
  static int above_standard(int fd) noexcept {
    if (fd < 0 || fd > STDERR_FILENO) return fd;
    const int flags = ::fcntl(fd, F_GETFD);
    const int moved =
        ::fcntl(fd, flags >= 0 && (flags & FD_CLOEXEC) != 0 ? F_DUPFD_CLOEXEC : F_DUPFD, STDERR_FILENO + 1);
    const int error = errno;
    ::close(fd);
    errno = error;
    return moved;
  }

  int fd_ = -1;
};

}  // namespace causeway
