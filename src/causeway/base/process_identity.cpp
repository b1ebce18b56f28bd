#include <causeway/base/error.hpp>
#include <causeway/base/process_identity.hpp>
#include <causeway/base/random_bytes.hpp>
#include <pthread.h>

#include <system_error>

namespace causeway {
namespace {

ProcessIdentity identity;  // of this process, once it was asked for

}  // namespace

ProcessIdentity process_identity() {
  static const bool made = [] {
    fill_random(identity);
    // (A child's does not fail where its parent's did not.)
    if (const int error = ::pthread_atfork(nullptr, nullptr, [] { (void)try_fill_random(identity); }); error != 0)
      fail(Status::internal, "cannot watch for forks: {}", std::generic_category().message(error));
    return true;
  }();
  (void)made;
  return identity;
}

}  // namespace causeway
