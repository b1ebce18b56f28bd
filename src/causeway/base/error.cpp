#include <causeway/base/error.hpp>

#include <cerrno>
#include <system_error>

namespace causeway {

void fail_errno(const std::string& what) {
  const int code = errno;
  const Status status = code == ENOMEM ? Status::out_of_memory : Status::internal;
  throw Error(status, fmt::format("{}: {}", what, std::generic_category().message(code)));
}

}  // namespace causeway
