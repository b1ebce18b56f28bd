// What a unit of exported functions begins with. libcauseway.so has the host side of the API, and the kernels behind
// the stream-ordered forms. In libcauseway_cpu.so, for host files that are not translated, the host runs the device's
// code.
#pragma once
#include <causeway/api/dispatch.hpp>
#include <causeway/api/edge.hpp>
#include <causeway/api/on_stream.hpp>
#include <causeway/base/export.hpp>

#include <type_traits>

namespace causeway {

/// An operation's call behind the guard: what `call` gives, or the result of a call that has failed: of collectives the
/// status.
template <class Op, class Call>
typename Op::Result guarded(const char* name, Call call) noexcept {
  if constexpr (std::is_void<typename Op::Result>::value) {
    guard(name, call);
  } else {
    auto result = failed_result<Op>();
    const int status = guard(name, [&] { result = call(); });
    if constexpr (kMeets<Op>) {
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

#if defined(CAUSEWAY_CPU)
#define CAUSEWAY_EXPORT_HD(ret, name, params, host_body, device_body) \
  CAUSEWAY_EXPORT ret name params { device_body; }
#else
#include <causeway/api/host_queries.hpp>
#include <causeway/api/on_host.hpp>
#define CAUSEWAY_EXPORT_HD(ret, name, params, host_body, device_body) \
  CAUSEWAY_EXPORT ret name params { host_body; }
#endif
