// The C edge: exceptions end here, and only here, and become a status and a text.
#pragma once
#include <causeway/base/error.hpp>
#include <causeway/runtime/note_error.hpp>

#include <exception>
#include <new>
#include <utility>

namespace causeway {

/// Runs `body`; what it throws is noted as "call: text". Returns the status.
template <class Body>
int guard(const char* call, Body&& body) noexcept {
  try {
    std::forward<Body>(body)();
    return int(Status::success);
  } catch (const Error& error) {
    note_error(fmt::format("{}: {}", call, error.what()));
    return int(error.status());
  } catch (const std::bad_alloc&) {
    note_error(fmt::format("{}: no host memory", call));
    return int(Status::out_of_memory);
  } catch (const std::exception& error) {
    note_error(fmt::format("{}: {}", call, error.what()));
    return int(Status::internal);
  }
}

}  // namespace causeway
