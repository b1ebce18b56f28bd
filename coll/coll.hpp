// Collectives of a team, in their plain form: everyone enters (so that sources are ready and destinations free), data
// moves by one-sided copies, everyone leaves. All threads of the group call them; calls of one team do not overlap.
#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <causeway/order/barrier.hpp>
#include <causeway/rma/rma.hpp>

namespace causeway {

/// Member `root`'s source to every member's dest, the root's own included (OpenSHMEM 1.5, section 9.11.6).
template <class Group>
CAUSEWAY_DEVICE void broadcast(const DeviceWorld& world, const char* name, Group group, const TeamView& team,
                               void* dest, const void* source, size_t bytes, int root) {
  sync(world, name, group, team);
  if (team.pe == root) {
    for (int i = 1; i < team.pes; ++i) {
      const int member = (root + i) % team.pes;
      copy(group, Towards::peer, at(world, static_cast<char*>(dest), world_pe(team, member)), source, bytes);
    }
    if (dest != source) copy(group, Towards::self, dest, source, bytes);
  }
  sync(world, name, group, team);
}

/// Every member's source, in member order, in every member's dest (section 9.11.7).
template <class Group>
CAUSEWAY_DEVICE void fcollect(const DeviceWorld& world, const char* name, Group group, const TeamView& team, void* dest,
                              const void* source, size_t bytes) {
  sync(world, name, group, team);
  char* place = static_cast<char*>(dest) + size_t(team.pe) * bytes;
  for (int i = 1; i <= team.pes; ++i) {
    const int member = (team.pe + i) % team.pes;
    if (member == team.pe && place == source) continue;
    copy(group, Towards::peer, at(world, place, world_pe(team, member)), source, bytes);
  }
  sync(world, name, group, team);
}

/// How values of a type are added up: half and bfloat16 in float.
template <class T>
struct Accumulator {
  using type = T;
};
#if !defined(CAUSEWAY_HOST_ONLY)
template <>
struct Accumulator<__half> {
  using type = float;
};
template <>
struct Accumulator<__nv_bfloat16> {
  using type = float;
};
#endif

struct Sum {
  template <class T>
  CAUSEWAY_DEVICE static T combine(T a, T b) {
    return static_cast<T>(a + b);
  }
};

/// Element-wise combination over all members, in every member's dest (section 9.11.9). dest and source are the same or do
/// not overlap. Each member combines one share of the elements, in member order, and sends the result to all: everyone
/// has the same bits, and in place is safe because a share is read by its owner only, before the owner alone writes it.
template <class Operation, class T, class Group>
CAUSEWAY_DEVICE void reduce(const DeviceWorld& world, const char* name, Group group, const TeamView& team, T* dest,
                            const T* source, size_t count) {
  using Wide = typename Accumulator<T>::type;
  sync(world, name, group, team);
  const size_t share = (count + size_t(team.pes) - 1) / size_t(team.pes);
  const size_t begin = share * size_t(team.pe) < count ? share * size_t(team.pe) : count;
  const size_t end = begin + share < count ? begin + share : count;
  for (size_t i = begin + group.rank(); i < end; i += group.size()) {
    Wide total = static_cast<Wide>(machine::load_peer(at(world, source + i, world_pe(team, 0))));
    for (int member = 1; member < team.pes; ++member)
      total = Operation::combine(total,
                                 static_cast<Wide>(machine::load_peer(at(world, source + i, world_pe(team, member)))));
    const T result = static_cast<T>(total);
    for (int member = 0; member < team.pes; ++member)
      machine::store_peer(at(world, dest + i, world_pe(team, member)), result);
  }
  sync(world, name, group, team);
}

}  // namespace causeway
