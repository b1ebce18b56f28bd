// Operations of host threads of a CUDA program: work on the library's own stream, in order, and looks at copies of own
// words, since kernels may hold all of the device. They throw (edge.hpp catches). On the CPU machine hosts run the
// device's code (on_group.hpp).
#pragma once
#include <causeway/amo/amo.hpp>
#include <causeway/api/on_stream.hpp>
#include <causeway/host/host_poll.hpp>
#include <causeway/signal/wait_many.hpp>

#include <cstdint>
#include <type_traits>
#include <vector>

namespace causeway {

namespace detail {

template <class Op>
WaitInfo info_of(const char* name, const Op& op) {
  if constexpr (Op::kWaits) {
    return {name, -1, op.variables(), static_cast<uint64_t>(op.value_of(0)), comparison_name(op.comparison)};
  } else {
    return {};
  }
}

/// Copies the words again and again until the operation has seen enough; or once.
template <class Op>
typename Op::Result poll(const char* name, const DeviceWorld& world, const Op& op) {
  using T = std::remove_pointer_t<decltype(op.variables())>;
  std::vector<T> seen(op.count());
  size_t found = size_t(failed_result<Op>());
  if (seen.empty()) return op.result(found, true, nullptr);
  const auto holds = [&](size_t i) {
    if constexpr (std::is_same<Op, SignalFetch>::value) {
      return true;
    } else {
      return compare(seen[i], op.comparison, op.value_of(i));
    }
  };
  bool enough = false;
  const auto look = [&] {
    machine_host::copy(seen.data(), op.variables(), seen.size() * sizeof(T));
    enough = op.look(found, holds);
  };
  if (!Op::kWaits) {
    look();
    return op.result(found, enough, seen.data());
  }
  host_poll(world, info_of(name, op), [&](uint64_t& first) {
    look();
    first = static_cast<uint64_t>(seen[0]);
    return enough;
  });
  return op.result(found, enough, seen.data());
}

inline void finish(const char* name) {
  host::check_faults(name);
  machine_host::synchronize(machine_host::private_stream());
  host::check_faults(name);
}

template <class Op, class = void>
constexpr bool kCompletesOf = false;
template <class Op>
constexpr bool kCompletesOf<Op, std::void_t<decltype(Op::kCompletes)>> = Op::kCompletes;

/// One that gives what was there: written by the kernel where the host can read it.
template <class Op>
typename Op::Result fetch(const DeviceWorld& world, const Op& op) {
  using T = typename Op::Result;
  auto* const landing = static_cast<T*>(machine_host::fetch_buffer());
  enqueue<Caller::host>(world, Into<Op>{landing, op}, machine_host::private_stream());
  machine_host::synchronize(machine_host::private_stream());
  return *static_cast<volatile T*>(landing);
}

}  // namespace detail

/// `name`: the public call, for reports.
template <class Op>
typename Op::Result on_host(const char* name, const Op& op) {
  constexpr Way way = choose(Op::kKind, Facts{true, Caller::host}).way;
  if constexpr (way == Way::nothing) {
    return;
  } else if constexpr (kMeets<Op>) {
    HostView::binding(name);
    HostView::team(name, op.team);
    return detail::run_together<Caller::host>(name, op, machine_host::private_stream());
  } else if constexpr (Op::kKind == Kind::quiet) {
    detail::finish(name);
  } else {
    const HostView view = HostView::bound(name);
    detail::check_arguments<Caller::host>(view, op);
    if constexpr (way == Way::waiting) {
      return detail::poll(name, view.world, op);
    } else if constexpr (Op::kKind == Kind::update && !std::is_void<typename Op::Result>::value) {
      return detail::fetch(view.world, op);
    } else if constexpr (!detail::kCompletesOf<Op>) {
      return detail::enqueue<Caller::host>(view.world, op, machine_host::private_stream());
    } else {
      detail::enqueue<Caller::host>(view.world, op, machine_host::private_stream());
      detail::finish(name);
    }
  }
}

/// (`fetch` may be any memory of the host, which kernels need not reach: the result is there on return.)
template <class Op>
void on_host(const char* name, const Into<Op>& into) {
  const HostView view = HostView::bound(name);
  const HostSide<false> side(view);
  Check<HostSide<false>> check(side);
  check.result("fetch", into.fetch);
  *into.fetch = on_host(name, into.op);
}

}  // namespace causeway
