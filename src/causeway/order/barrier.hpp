// Barrier and sync of a team (OpenSHMEM 1.5, sections 9.11.1-4): one trip. Every member writes its epoch into its own
// line of everyone's inbox; a member is through when all lines of its inbox have reached the epoch.
//
// Why it is right: the group's sync puts every thread's earlier stores before the leader's fence, which is cumulative,
// so the relaxed stores of the epoch that follow it carry all of them; the acquire loads of the waiting threads,
// followed by the group's sync, show them to every thread of every member. A fast member may be one epoch ahead, never
// two, since it needs this member's next epoch to go on; epochs only grow, so ">=" cannot miss one that was overtaken.
#pragma once
#include <causeway/machine/group.hpp>
#include <causeway/order/order.hpp>
#include <causeway/view/gone.hpp>
#include <causeway/view/spin.hpp>

#include <cstdint>

namespace causeway {

/// World number of a team's member.
CAUSEWAY_DEVICE int world_pe(const TeamView& team, int member) {
  return team.members ? team.members[member] : team.first + member * team.stride;
}

/// A world PE's number in the team, -1 if it is no member.
CAUSEWAY_DEVICE int member_of(const TeamView& team, int pe) {
  if (team.members) return team.members[team.pes + pe];
  const int apart = pe - team.first;
  if (apart % team.stride != 0 || apart / team.stride < 0 || apart / team.stride >= team.pes) return -1;
  return apart / team.stride;  // (strides may be negative)
}

/// What a member knows of its own arguments: nothing was looked at, or they are good or bad. The members of one
/// collective must all check them or all not.
enum class Arguments { unchecked, good, bad };

namespace detail {

enum class Completes { no, yes };

/// Where a member's value for the others arrives (see exchange()).
CAUSEWAY_DEVICE uint64_t* value_slot(const TeamView& team, int member, uint64_t epoch) {
  return team.inbox + member * kInboxLineWords + 2 + epoch % 2;
}

template <class Group>
CAUSEWAY_DEVICE void meet(const DeviceWorld& world, const char* name, Group group, const TeamView& shared_team,
                          Completes completes, const uint64_t* value = nullptr) {
  const TeamView team = shared_team;  // in registers: the stores below could change memory for all the compiler knows
  const uint64_t epoch = *team.epoch + 1;
  group.sync();
  if (leads(group)) {
    if (value)
      for (int member = 0; member < team.pes; ++member)
        machine::store_peer(at(world, value_slot(team, team.pe, epoch), world_pe(team, member)), *value);
    if (completes == Completes::yes) {
      quiet(world);
    } else {
      fence(world);
    }
    uint64_t* own_line = team.inbox + team.pe * kInboxLineWords;
    for (int i = 1; i <= team.pes; ++i) {
      const int member = (team.pe + i) % team.pes;  // not everyone at the same target first
      machine::store_relaxed_sys(at(world, own_line, world_pe(team, member)), epoch);
    }
  }
  for (unsigned member = group.rank(); member < unsigned(team.pes); member += group.size()) {
    const uint64_t* line = team.inbox + member * kInboxLineWords;
    const auto describe = [&] { return WaitInfo{name, world_pe(team, int(member)), line, epoch, ">="}; };
    spin_until(world, describe, [&](uint64_t& seen, bool hurried) {
      return arrived(line, seen, hurried, [&](uint64_t now) { return now >= epoch; });
    });
  }
  if (leads(group)) *team.epoch = epoch;  // read again only after the sync below
  group.sync();
}

}  // namespace detail

/// All members' groups meet; stores made before by a member's group are visible to the others after. All threads of the
/// group call it. `name` is the public call, for reports.
template <class Group>
CAUSEWAY_DEVICE void sync(const DeviceWorld& world, const char* name, Group group, const TeamView& team) {
  detail::meet(world, name, group, team, detail::Completes::no);
}

/// sync, after all of the group's earlier operations are complete.
template <class Group>
CAUSEWAY_DEVICE void barrier(const DeviceWorld& world, const char* name, Group group, const TeamView& team) {
  detail::meet(world, name, group, team, detail::Completes::yes);
}

/// sync that also tells every member a value. exchanged() gives them until the caller's next meeting of the team:
/// values of even and odd epochs have slots of their own, a member can be one epoch ahead only, and the epoch's
/// release covers the value that was stored before it.
template <class Group>
CAUSEWAY_DEVICE void exchange(const DeviceWorld& world, const char* name, Group group, const TeamView& team,
                              uint64_t value) {
  detail::meet(world, name, group, team, detail::Completes::no, &value);
}
CAUSEWAY_DEVICE uint64_t exchanged(const TeamView& team, int member) {
  return machine::load_relaxed_sys(detail::value_slot(team, member, *team.epoch));
}

/// Of a meeting: false where a member has gone, and so may not have come. (Where arguments are checked.)
CAUSEWAY_DEVICE bool all_came(const DeviceWorld& world, const TeamView& team) {
  return !machine::kChecks || !any_lost(world) || first_gone(world, team) < 0;
}

template <detail::Completes Completion>
struct Meeting {
  int team;

  static constexpr Kind kKind = Kind::meeting;
  static constexpr const char* kName = Completion == detail::Completes::yes ? "barrier" : "sync";
  using Result = int;

  template <class C>
  CAUSEWAY_HOST_DEVICE void check(C&, const TeamView&) const {}
  template <class Group>
  CAUSEWAY_DEVICE bool run(const DeviceWorld& world, const char* name, Group group, const TeamView& view,
                           Arguments) const {
    detail::meet(world, name, group, view, Completion);
    return all_came(world, view);
  }
};
using Barrier = Meeting<detail::Completes::yes>;
using Sync = Meeting<detail::Completes::no>;

}  // namespace causeway
