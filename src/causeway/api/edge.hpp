// The C edge: exceptions end here, and only here, and become a status and a text.
#pragma once
#include <causeway/base/error.hpp>
#include <causeway/runtime/note_error.hpp>
#include <causeway/view/operation.hpp>

#include <exception>
#include <new>
#include <type_traits>
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

/// An operation's call behind the guard: what `call` gives, or the result of a call that has failed: of collectives the status.
template <class Op, class Call>
typename Op::Result guarded(const char* name, Call call) noexcept {
  if constexpr (std::is_void<typename Op::Result>::value) {
    guard(name, call);
  } else {
    auto result = failed_result<Op>();
    const int status = guard(name, [&] { result = call(); });
    if constexpr (meets(Op::kKind)) {
      if (status != int(Status::success)) return status;
    }
    return result;
  }
}

/// The exported host and stream forms of an operation.
template <class Op>
typename Op::Result host_edge(const char* name, const Op& op) noexcept {
  return guarded<Op>(name, [&] { return on_host(name, op); });
}
template <class Op, class Stream>
typename Op::Result stream_edge(const char* name, const Op& op, Stream stream) noexcept {
  return guarded<Op>(name, [&] { return on_stream(name, op, stream); });
}

}  // namespace causeway
