// Operations of host threads of a CUDA program: work on the library's own stream, in order, and looks at copies of own words, since
// kernels may hold all of the device. They throw (edge.hpp catches). On the CPU machine hosts run the device's code (on_group.hpp).
#pragma once
#include <causeway/amo/amo.hpp>
#include <causeway/api/on_stream.hpp>
#include <causeway/signal/wait_many.hpp>
#include <causeway/view/departures.hpp>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <thread>
#include <type_traits>
#include <vector>

namespace causeway {

namespace detail {

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
    return enough = op.look(found, holds);
  };
  if (!Op::kWaits) {
    look();
    return op.result(found, enough, seen.data());
  }
  const auto start = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point lost_since{};  // others may still come for a while (kLossPatienceNs)
  for (bool reported = false; !look(); std::this_thread::yield()) {
    const uint64_t offset = heap_offset(world, op.variables());
    if (const int lost = gone_for_host(world, -1); lost >= 0) {
      if (lost_since.time_since_epoch().count() == 0) lost_since = std::chrono::steady_clock::now();
      if (std::chrono::steady_clock::now() - lost_since > std::chrono::nanoseconds(kLossPatienceNs))
        fail(Status::internal, "gave up the wait on {} variable(s) at heap offset {:#x} (the first seen as {}): {}",
             seen.size(), offset, seen[0], describe_gone(world, lost));
    }
    const auto waited = uint64_t(std::chrono::nanoseconds(std::chrono::steady_clock::now() - start).count());
    if (world.wait_timeout_ns && waited > world.wait_timeout_ns)
      fail(Status::internal, "gave up the wait on {} variable(s) at heap offset {:#x} (the first seen as {})",
           seen.size(), offset, seen[0]);
    if (!reported && world.wait_report_ns && waited > world.wait_report_ns) {
      std::fprintf(stderr, "causeway: PE %d: %s: long wait on %zu variable(s) at heap offset %#llx\n", world.pe, name,
                   seen.size(), static_cast<unsigned long long>(offset));
      reported = true;
    }
  }
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
  auto* const landing = static_cast<T*>(machine_host::fetch_place());
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
  } else if constexpr (meets(Op::kKind)) {
    HostView::binding(name);
    HostView::team(name, op.team);
    return detail::run_together<Caller::host>(name, op, machine_host::private_stream());
  } else if constexpr (Op::kKind == Kind::quiet) {
    detail::finish(name);
  } else {
    const HostView view = HostView::bound(name);
    detail::check_arguments<Caller::host>(view, op);
    if constexpr (way == Way::polling) {
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
