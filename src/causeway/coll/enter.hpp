// How a collective begins: everyone meets, so that sources are ready and destinations free. Where arguments are checked
// (all that hosts and streams call; in kernels, the CPU machine and debug builds) the members also compare what they
// were called with, all find the same answer, and a collective whose members disagree moves nothing and hangs nobody.
#pragma once
#include <causeway/base/digest.hpp>
#include <causeway/machine/group.hpp>
#include <causeway/view/report_misuse.hpp>
#include <causeway/order/barrier.hpp>

#include <cstdint>

namespace causeway {

/// What the members of a collective must agree about. A call whose own arguments are bad enters all the same: it agrees
/// with nobody, so that the others learn of it instead of waiting.
struct Agreement {
  Kind what;
  const void *dest, *source;
  uint64_t size, detail;  // bytes or elements; root, operator or strides
  Arguments arguments;
};

namespace detail {

/// The first member whose value differs from member 0's, or -1; the same in all threads of the group.
template <class Group>
CAUSEWAY_DEVICE int first_other(Group, const TeamView& team) {
  const uint64_t first = exchanged(team, 0);
  for (int member = 1; member < team.pes; ++member)
    if (exchanged(team, member) != first) return member;
  return -1;
}
#if defined(__CUDACC__) && !defined(CAUSEWAY_CPU)
/// (Each thread looks at members of its own first: one trip to memory, not one after the other.)
CAUSEWAY_DEVICE int first_other(Block block, const TeamView& team) {
  const uint64_t first = exchanged(team, 0);
  bool differs = false;
  for (unsigned member = block.rank(); member < unsigned(team.pes); member += block.size())
    differs = exchanged(team, int(member)) != first || differs;
  return machine::any_in_block(differs) ? first_other(Thread{}, team) : -1;
}
#endif

}  // namespace detail

/// False: the members disagree, which has been said. All threads of the group call it and get the same answer.
template <class Group>
CAUSEWAY_DEVICE_LARGE bool enter(const DeviceWorld& world, const char* name, Group group, const TeamView& team,
                                 const Agreement& agreement) {
  if (agreement.arguments == Arguments::unchecked) {
    sync(world, name, group, team);
    return true;
  }
  uint64_t digest = mixed(*team.epoch, uint64_t(agreement.what));  // what others wrote at other times differs
  const auto offset = [&](const void* address) { return agreement.size && address ? heap_offset(world, address) : 0; };
  digest = mixed(digest, offset(agreement.dest));
  digest = mixed(digest, offset(agreement.source));
  digest = mixed(digest, agreement.size);
  digest = mixed(digest, agreement.detail);
  const bool good = agreement.arguments == Arguments::good;
  if (!good) digest = mixed(digest, 1 + uint64_t(world.pe));
  exchange(world, name, group, team, digest);
  const int other = detail::first_other(group, team);
  if (other < 0 && good) return true;
  if (other >= 0 && first_gone(world, team) >= 0) return false;  // the wait has said so
  if (good && leads(group))
    misuse(world, name, "members",
           " of the team, PEs {} and {}, called it with different arguments or called different collectives",
           world_pe(team, 0), world_pe(team, other));
  return false;
}

}  // namespace causeway
