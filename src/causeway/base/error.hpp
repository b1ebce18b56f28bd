// Errors as the library throws them: a status of the C API and a text that names argument, value and accepted form.
#pragma once
#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace causeway {

/// Status codes of the C API (NVSHMEMX_SUCCESS and NVSHMEMX_ERROR_* have these values).
enum class Status : int {
  success = 0,
  invalid_value = 1,
  out_of_memory = 2,
  not_supported = 3,
  symmetry = 4,
  gpu_not_selected = 5,
  collective_launch_failed = 6,
  internal = 7,
};

/// What every layer of the library throws. The C edge (api/edge.hpp) turns it into a status and keeps its text.
class Error : public std::runtime_error {
 public:
  Error(Status status, const std::string& text) : std::runtime_error(text), status_(status) {}
  [[nodiscard]] Status status() const noexcept { return status_; }

 private:
  Status status_;
};

/// Throws an Error whose text is formatted by fmt.
template <class... Args>
[[noreturn]] void fail(Status status, fmt::format_string<Args...> text, Args&&... args) {
  throw Error(status, fmt::format(text, std::forward<Args>(args)...));
}

/// Throws an Error with the text of the current errno appended.
[[noreturn]] void fail_errno(const std::string& what);

}  // namespace causeway
