// What the functions of the C API are on the device (and, on the CPU machine, on the host): an operation, by the
// threads of a group, in the unit's world. Arguments are checked on the CPU machine always, on CUDA in debug builds
// (CAUSEWAY_DEBUG or nvcc -G): a wrong call says so, leaves a record for the host, and does nothing.
#pragma once
#include <causeway/api/types.h>
#include <causeway/order/barrier.hpp>
#include <causeway/view/operation.hpp>
#include <causeway/view/unit.hpp>

#include <type_traits>

namespace causeway {

/// The caller's record of a team: of host threads, in the channel of theirs.
CAUSEWAY_DEVICE const TeamView& team_view(const DeviceWorld& world, int team) {
  return world.teams[machine::on_host() ? world.teams_max + team : team];
}

/// The same, or null (reported) if there is no such team or the caller is no member.
CAUSEWAY_DEVICE const TeamView* find_team(const DeviceWorld& world, const char* name, int team) {
  if constexpr (machine::kChecks) {
    const DeviceSide side{world, name};
    if (world.pes <= 0) {
      side.fail("it", " was called before nvshmem_init or after nvshmem_finalize");
      return nullptr;
    }
    if (team < 0 || team >= world.teams_max || world.teams[team].pe < 0) {
      side.fail("team", " is {}: must be a team that the caller is a member of", team);
      return nullptr;
    }
  }
  return &team_view(world, team);
}

namespace detail {

/// (On a GPU whole collectives are called: a call is nothing beside a trip to a peer.)
template <class Op, class Group>
CAUSEWAY_DEVICE_LARGE bool run_large(Op op, const DeviceWorld& world, const char* name, Group group,
                                     const TeamView& team, Arguments arguments) {
  return op.run(world, name, group, team, arguments);
}

}  // namespace detail

/// All threads of the group call it, with the same arguments. `name`: the public call, for reports.
template <class Group, class Op>
CAUSEWAY_DEVICE typename Op::Result on_group(const char* name, Group group, const Op& op) {
  const DeviceWorld& world = unit::world();
  if constexpr (kMeets<Op>) {
    // One with bad arguments enters all the same, so that nobody waits for it (coll/enter.hpp).
    const TeamView* team = find_team(world, name, op.team);
    if (!team) return NVSHMEMX_ERROR_INVALID_VALUE;
    Arguments arguments = Arguments::unchecked;
    if constexpr (machine::kChecks) {
      const DeviceSide side{world, name};
      Check<DeviceSide> check(side);
      op.check(check, *team);
      arguments = check.good() ? Arguments::good : Arguments::bad;
    }
    bool done;
    if constexpr (!machine::kGpu || Op::kKind == Kind::meeting) {
      done = op.run(world, name, group, *team, arguments);
    } else {
      done = detail::run_large(op, world, name, group, *team, arguments);
    }
    if (done) return NVSHMEMX_SUCCESS;
    return Op::kKind == Kind::meeting || any_lost(world) ? NVSHMEMX_ERROR_INTERNAL : NVSHMEMX_ERROR_INVALID_VALUE;
  } else {
    if constexpr (machine::kChecks) {
      const DeviceSide side{world, name};
      Check<DeviceSide> check(side);
      op.check(check);
      if (!check.good()) return failed_result<Op>();
    }
    return op.run(world, name, group);
  }
}

}  // namespace causeway
