#include <causeway/base/error.hpp>
#include <causeway/base/process_identity.hpp>
#include <pthread.h>
#include <sys/random.h>

#include <cerrno>
#include <system_error>

namespace causeway {
namespace {

ProcessIdentity identity;  // of this process, once it was asked for

/// False, with errno set, if there are no random bytes. (So few come at once or not at all.)
bool renew() {
  ssize_t got;
  do got = ::getrandom(identity.data(), identity.size(), 0);
  while (got < 0 && errno == EINTR);
  return got == ssize_t(identity.size());
}

}  // namespace

ProcessIdentity process_identity() {
  static const bool made = [] {
    if (!renew()) fail_errno("cannot get random bytes (getrandom)");
    // (A child's does not fail where its parent's did not.)
    if (const int error = ::pthread_atfork(nullptr, nullptr, [] { (void)renew(); }); error != 0)
      fail(Status::internal, "cannot watch for forks: {}", std::generic_category().message(error));
    return true;
  }();
  (void)made;
  return identity;
}

}  // namespace causeway
