// How a failed check of a host ends.
#include <causeway/api/host_side.hpp>
#include <causeway/base/error.hpp>

namespace causeway {

void fail_invalid(const char* text) { fail(Status::invalid_value, "{}", text); }

}  // namespace causeway
