// Operations in the order of a stream: what choose() says, a copy of the machine or a kernel. They throw (edge.hpp
// catches).
#pragma once
#include <causeway/api/host_side.hpp>
#include <causeway/api/types.h>
#include <causeway/base/error.hpp>
#include <causeway/host/kernels.hpp>
#include <causeway/host/machine_host.hpp>

#include <exception>

namespace causeway {

using Stream = machine_host::Stream;

namespace detail {

inline void enqueue(const CopyPlan& plan, Stream stream) {
  if (plan.count == 1 && plan.to_step == 0) return machine_host::copy_on_stream(plan.to, plan.from, plan.bytes, stream);
  machine_host::copy_strided_on_stream(plan.to, plan.to_step, plan.from, plan.from_step, plan.bytes, plan.count,
                                       stream);
}

/// Of arguments that have been checked.
template <Caller Who, class Op>
typename Op::Result enqueue(const DeviceWorld& world, const Op& op, Stream stream) {
  constexpr Plan plan = choose(Op::kKind, Facts{machine::kGpu, Who});
  if constexpr (plan.way == Way::kernel) {
    launch_operation(world, op, plan, stream);
    return typename Op::Result();
  } else if constexpr (Op::kKind == Kind::load) {
    typename Op::Result value{};
    enqueue(op.plan(world, &value), stream);
    machine_host::synchronize(stream);
    return value;
  } else {
    static_assert(plan.way == Way::copy_engine, "a way for streams");
    enqueue(op.plan(world), stream);
    if constexpr (Op::kKind == Kind::copy_and_signal) enqueue<Who>(world, op.signal, stream);
  }
}

template <Caller Who, class Op>
void check_arguments(const HostView& view, const Op& op) {
  const HostSide<choose(Op::kKind, Facts{machine::kGpu, Who}).way == Way::kernel> side(view);
  Check<decltype(side)> check(side);
  op.check(check);
}

/// By all members, in the device channel, or (`Who` the host) the host channel of the team. They always compare what
/// they were called with: the launch hides it. One with bad arguments enters all the same, so that the others learn of
/// it instead of waiting (coll/enter.hpp); and faults that device code has left are told after the operation.
template <Caller Who, class Op>
int run_together(const char* name, const Op& op, Stream stream) {
  const HostView view = HostView::bound(name);
  const HostSide<false> side(view);
  std::exception_ptr wrong;
  try {
    Check<HostSide<false>> check(side);
    op.check(check, HostView::team(name, op.team));
  } catch (const Error&) {
    wrong = std::current_exception();
  }
  const int slot = (Who == Caller::host ? view.world.teams_max : 0) + op.team;
  launch_collective(view.world, op, slot, wrong ? Arguments::bad : Arguments::good,
                    choose(Op::kKind, Facts{machine::kGpu, Who}), stream);
  if (Who == Caller::host) machine_host::synchronize(stream);
  if (wrong) std::rethrow_exception(wrong);
  host::check_faults(name);
  return NVSHMEMX_SUCCESS;
}

}  // namespace detail

/// `name`: the public call, for reports.
template <class Op>
typename Op::Result on_stream(const char* name, const Op& op, Stream stream) {
  if constexpr (kMeets<Op>) {
    HostView::binding(name);
    HostView::team(name, op.team);
    return detail::run_together<Caller::stream>(name, op, stream);
  } else if constexpr (Op::kKind == Kind::quiet) {
    detail::enqueue<Caller::stream>(HostView::binding(name).world, op, stream);
    host::check_faults(name);
  } else {
    const HostView view = HostView::bound(name);
    detail::check_arguments<Caller::stream>(view, op);
    return detail::enqueue<Caller::stream>(view.world, op, stream);
  }
}

}  // namespace causeway
