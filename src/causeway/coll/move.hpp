// Collectives that move data (OpenSHMEM 1.5, section 9.11): everyone enters, data moves by one-sided copies, everyone leaves.
// All threads of the group call them; calls of one team do not overlap. False: the members disagree (see enter.hpp).
#pragma once
#include <causeway/coll/enter.hpp>
#include <causeway/rma/rma.hpp>
#include <causeway/rma/strided.hpp>

namespace causeway {

/// Member `root`'s source to every member's dest, the root's own included (section 9.11.6).
template <class Group>
CAUSEWAY_DEVICE_LARGE bool broadcast(const DeviceWorld& world, const char* name, Group group, const TeamView& team,
                                     void* dest, const void* source, size_t bytes, int root, Arguments arguments) {
  if (!enter(world, name, group, team, {Collective::broadcast, dest, source, bytes, uint64_t(root), arguments}))
    return false;
  if (team.pe == root) {
    for (int i = 1; i < team.pes; ++i) {
      const int member = (root + i) % team.pes;
      copy(group, Towards::peer, at(world, static_cast<char*>(dest), world_pe(team, member)), source, bytes);
    }
    if (dest != source) copy(group, Towards::self, dest, source, bytes);
  }
  sync(world, name, group, team);
  return true;
}

namespace detail {

/// `bytes` at `source` to `place` of every member, the own one last.
template <class Group>
CAUSEWAY_DEVICE void copy_to_all(const DeviceWorld& world, Group group, const TeamView& team, char* place,
                                 const void* source, size_t bytes) {
  for (int i = 1; i <= team.pes; ++i) {
    const int member = (team.pe + i) % team.pes;
    if (member == team.pe && place == source) continue;
    copy(group, Towards::peer, at(world, place, world_pe(team, member)), source, bytes);
  }
}

}  // namespace detail

/// Every member's source, in member order, in every member's dest (section 9.11.7).
template <class Group>
CAUSEWAY_DEVICE_LARGE bool fcollect(const DeviceWorld& world, const char* name, Group group, const TeamView& team,
                                    void* dest, const void* source, size_t bytes, Arguments arguments) {
  if (!enter(world, name, group, team, {Collective::fcollect, dest, source, bytes, 0, arguments})) return false;
  detail::copy_to_all(world, group, team, static_cast<char*>(dest) + size_t(team.pe) * bytes, source, bytes);
  sync(world, name, group, team);
  return true;
}

/// fcollect of as many bytes as each member has (section 9.11.7): the members first tell each other how many.
template <class Group>
CAUSEWAY_DEVICE_LARGE bool collect(const DeviceWorld& world, const char* name, Group group, const TeamView& team,
                                   void* dest, const void* source, size_t bytes, Arguments arguments) {
  if (!enter(world, name, group, team, {Collective::collect, dest, nullptr, 1, 0, arguments})) return false;
  exchange(world, name, group, team, bytes);
  if (any_lost(world) && first_gone(world, team) >= 0) return false;  // what it gives has not come: old words lie there
  size_t before = 0, all = 0;
  for (int member = 0; member < team.pes; ++member) {
    if (member == team.pe) before = all;
    all += exchanged(team, member);
  }
  if (arguments != Arguments::unchecked && all > 0 &&
      !in_heap(world, dest, all)) {  // all members come to the same answer
    sync(world, name, group, team);
    if (leads(group))
      misuse(world, name, "dest is {x} ({} bytes of all members): must lie in the caller's symmetric heap of {} bytes",
             reinterpret_cast<long long>(dest), static_cast<long long>(all), static_cast<long long>(*world.heap_bytes));
    return false;
  }
  detail::copy_to_all(world, group, team, static_cast<char*>(dest) + before, source, bytes);
  sync(world, name, group, team);
  return true;
}

/// Block j of a member's source becomes block (number of the member) of member j's dest (section 9.11.8).
template <class Group>
CAUSEWAY_DEVICE_LARGE bool alltoall(const DeviceWorld& world, const char* name, Group group, const TeamView& team,
                                    void* dest, const void* source, size_t bytes, Arguments arguments) {
  if (!enter(world, name, group, team, {Collective::alltoall, dest, source, bytes, 0, arguments})) return false;
  char* place = static_cast<char*>(dest) + size_t(team.pe) * bytes;
  for (int i = 1; i <= team.pes; ++i) {
    const int member = (team.pe + i) % team.pes;
    copy(group, Towards::peer, at(world, place, world_pe(team, member)),
         static_cast<const char*>(source) + size_t(member) * bytes, bytes);
  }
  sync(world, name, group, team);
  return true;
}

/// alltoall of blocks whose elements lie `dest_stride` and `source_stride` elements apart.
template <size_t Bytes, class Group>
CAUSEWAY_DEVICE_LARGE bool alltoalls(const DeviceWorld& world, const char* name, Group group, const TeamView& team,
                                     Element<Bytes> element, void* dest, const void* source, ptrdiff_t dest_stride,
                                     ptrdiff_t source_stride, size_t elements, Arguments arguments) {
  const uint64_t strides = uint64_t(dest_stride) * 0x100000001u + uint64_t(source_stride);
  if (!enter(world, name, group, team, {Collective::alltoalls, dest, source, elements * Bytes, strides, arguments}))
    return false;
  const ptrdiff_t block = ptrdiff_t(elements) * ptrdiff_t(Bytes);
  char* place = static_cast<char*>(dest) + ptrdiff_t(team.pe) * dest_stride * block;
  for (int i = 1; i <= team.pes; ++i) {
    const int member = (team.pe + i) % team.pes;
    copy_strided(group, Towards::peer, element, at(world, place, world_pe(team, member)),
                 static_cast<const char*>(source) + ptrdiff_t(member) * source_stride * block, dest_stride,
                 source_stride, elements);
  }
  sync(world, name, group, team);
  return true;
}

}  // namespace causeway
