#include <causeway/bootstrap/fork_guard.hpp>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <mutex>
#include <vector>

namespace causeway {
namespace {

struct Guarded {
  std::mutex mutex;  // held while the process forks: the child gets a whole list
  std::vector<int> fds;
};

void in_the_child();

Guarded& guarded() {
  // Never destroyed: descriptors may outlive static objects.
  static Guarded& all = *[] {
    auto* made = new Guarded;
    (void)::pthread_atfork([] { guarded().mutex.lock(); }, [] { guarded().mutex.unlock(); }, in_the_child);
    return made;
  }();
  return all;
}

void in_the_child() {
  Guarded& all = guarded();
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (const int fd : all.fds) {
    if (null < 0 || ::dup3(null, fd, O_CLOEXEC) < 0) ::close(fd);
  }
  if (null >= 0) ::close(null);
  all.fds.clear();
  all.mutex.unlock();
}

}  // namespace

NotInChildren::NotInChildren(int fd) : fd_(fd) {
  if (fd < 0) return;
  Guarded& all = guarded();
  const std::lock_guard lock(all.mutex);
  all.fds.push_back(fd);
}

void NotInChildren::forget() noexcept {
  if (fd_ < 0) return;
  Guarded& all = guarded();
  const std::lock_guard lock(all.mutex);
  // (One entry: the launcher's descriptor may be there twice.)
  if (const auto at = std::find(all.fds.begin(), all.fds.end(), fd_); at != all.fds.end()) all.fds.erase(at);
  fd_ = -1;
}

}  // namespace causeway
