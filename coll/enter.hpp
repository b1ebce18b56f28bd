// How a collective begins: everyone meets, so that sources are ready and destinations free. Where arguments are checked
// (the CPU machine, debug builds) the members also compare what they were called with, all find the same answer, and a
// collective whose members disagree moves nothing and hangs nobody.
#pragma once
#include <causeway/machine/report_misuse.hpp>
#include <causeway/order/barrier.hpp>

#include <cstdint>

namespace causeway {

enum class Collective { broadcast = 1, fcollect, collect, alltoall, alltoalls, reduce, reducescatter, scan, maxloc };

namespace detail {

CAUSEWAY_DEVICE uint64_t mixed(uint64_t digest, uint64_t word) {
  digest = (digest ^ word) * 0x9e3779b97f4a7c15u;
  return digest ^ (digest >> 29);
}

}  // namespace detail

/// What the members of a collective must agree about. A call whose own arguments are bad enters with good == false: it
/// agrees with nobody, so that the others learn of it instead of waiting.
struct Agreement {
  Collective what;
  const void *dest, *source;
  uint64_t size, detail;  // bytes or elements; root, operator or strides
  bool good;
};

/// False: the members disagree, which has been said. All threads of the group call it and get the same answer.
template <class Group>
CAUSEWAY_DEVICE_LARGE bool enter(const DeviceWorld& world, const char* name, Group group, const TeamView& team,
                                 const Agreement& agreement) {
  if (!machine::kChecks) {
    sync(world, name, group, team);
    return true;
  }
  uint64_t digest = detail::mixed(*team.epoch, uint64_t(agreement.what));  // what others wrote at other times differs
  const auto offset = [&](const void* place) { return agreement.size && place ? heap_offset(world, place) : 0; };
  digest = detail::mixed(digest, offset(agreement.dest));
  digest = detail::mixed(digest, offset(agreement.source));
  digest = detail::mixed(digest, agreement.size);
  digest = detail::mixed(digest, agreement.detail);
  if (!agreement.good) digest = detail::mixed(digest, 1 + uint64_t(world.pe));
  exchange(world, name, group, team, digest);
  int other = -1;
  const uint64_t first = exchanged(team, 0);
  for (int member = 0; member < team.pes; ++member)
    if (other < 0 && exchanged(team, member) != first) other = member;
  if (other < 0 && agreement.good) return true;
  if (agreement.good && leads(group))
    misuse(world, name,
           "members of the team called it with other arguments, or another collective (such a PE, number of PEs)",
           world_pe(team, other), team.pes);
  return false;
}

}  // namespace causeway
