// Reductions over a team (OpenSHMEM 1.5, section 9.11.9; scans: 1.6). All threads of the group call them; dest and
// source are the same or do not overlap. Every element is combined by one member, in member order, so that all members
// have the same bits. False: the members disagree (see enter.hpp).
#pragma once
#include <causeway/coll/combine.hpp>
#include <causeway/coll/enter.hpp>
#include <causeway/machine/group.hpp>

namespace causeway {

/// Element-wise combination over all members, in every member's dest. Each member combines one share of the elements
/// and sends the result to all. In place is safe: a share is read by its owner only, before the owner alone writes it.
template <class Operation, class T>
struct Reduce {
  int team;
  T* dest;
  const T* source;
  size_t count;

  static constexpr Kind kKind = Kind::reduce;
  static constexpr const char* kName = "reduce";
  using Result = int;
  using Element = T;

  template <class C>
  CAUSEWAY_HOST_DEVICE void check(C& check, const TeamView&) const {
    check.aligned("dest", dest);
    check.aligned("source", source);
    check.pair(dest, bytes_of(count, sizeof(T)), source, bytes_of(count, sizeof(T)), dest == source);
  }
  template <class Group>
  CAUSEWAY_DEVICE bool run(const DeviceWorld& world, const char* name, Group group, const TeamView& view,
                           Arguments arguments) const {
    if (!enter(world, name, group, view, {kKind, dest, source, count * sizeof(T), Operation::number, arguments}))
      return false;
    detail::for_packs(group, detail::aligned16(dest, source), size_t(view.pe), size_t(view.pes), world, view, *this);
    sync(world, name, group, view);
    return true;
  }
  template <int N>
  CAUSEWAY_DEVICE void pack(const DeviceWorld& world, const TeamView& view, size_t i) const {
    const auto result = detail::combine_members<Operation, N>(world, view, source + i);
    for (int k = 1; k <= view.pes; ++k) {
      const int member = (view.pe + k) % view.pes;
      detail::store_pack<T, N>(at(world, dest + i, world_pe(view, member)), result);
    }
  }
};

/// Chunk k (`count` elements) of the combination to member k's dest; source holds a chunk for every member. In place
/// (dest == source) all of source is overwritten: a member's own chunk is read by itself only, so it keeps the result
/// until everyone has read the rest.
template <class Operation, class T>
struct Reducescatter {
  int team;
  T* dest;
  const T* source;
  size_t count;

  static constexpr Kind kKind = Kind::reducescatter;
  static constexpr const char* kName = "reducescatter";
  using Result = int;
  using Element = T;

  template <class C>
  CAUSEWAY_HOST_DEVICE void check(C& check, const TeamView& view) const {
    check.aligned("dest", dest);
    check.aligned("source", source);
    check.pair(dest, bytes_of(count, sizeof(T)), source, bytes_of(bytes_of(count, size_t(view.pes)), sizeof(T)),
               dest == source);
  }
  template <class Group>
  CAUSEWAY_DEVICE bool run(const DeviceWorld& world, const char* name, Group group, const TeamView& view,
                           Arguments arguments) const {
    if (!enter(world, name, group, view, {kKind, dest, source, count * sizeof(T), Operation::number, arguments}))
      return false;
    const bool in_place = dest == source;
    const T* chunk = source + size_t(view.pe) * count;
    T* result = in_place ? dest + size_t(view.pe) * count : dest;
    detail::for_packs(group, detail::aligned16(result, chunk), 0, 1, world, view,
                      Reducescatter{team, result, chunk, count});
    sync(world, name, group, view);
    if (in_place && view.pe > 0) {
      copy(group, Towards::self, dest, chunk, count * sizeof(T));
      group.sync();
    }
    return true;
  }
  template <int N>
  CAUSEWAY_DEVICE void pack(const DeviceWorld& world, const TeamView& view, size_t i) const {
    detail::store_pack<T, N>(at(world, dest + i, world.pe),
                             detail::combine_members<Operation, N>(world, view, source + i));
  }
};

/// Sums over the members up to and including the own one (`Inclusive`) or before it (0 for the first), element by
/// element.
template <class T, bool Inclusive>
struct SumScan {
  int team;
  T* dest;
  const T* source;
  size_t count;

  static constexpr Kind kKind = Kind::scan;
  static constexpr const char* kName = "scan";
  using Result = int;
  using Element = T;

  template <class C>
  CAUSEWAY_HOST_DEVICE void check(C& check, const TeamView&) const {
    check.aligned("dest", dest);
    check.aligned("source", source);
    check.pair(dest, bytes_of(count, sizeof(T)), source, bytes_of(count, sizeof(T)), dest == source);
  }
  template <class Group>
  CAUSEWAY_DEVICE bool run(const DeviceWorld& world, const char* name, Group group, const TeamView& view,
                           Arguments arguments) const {
    if (!enter(world, name, group, view, {kKind, dest, source, count * sizeof(T), Inclusive, arguments})) return false;
    detail::for_packs(group, detail::aligned16(dest, source), size_t(view.pe), size_t(view.pes), world, view, *this);
    sync(world, name, group, view);
    return true;
  }
  template <int N>
  CAUSEWAY_DEVICE void pack(const DeviceWorld& world, const TeamView& view, size_t i) const {
    detail::Pack<T, N> before;
    for (int k = 0; k < N; ++k) before.value[k] = static_cast<T>(0);
    detail::Running<Sum, T, N> running;
    running.start(before);
    for (int member = 0; member < view.pes; ++member) {
      const int pe = world_pe(view, member);
      const auto given = detail::load_pack<T, N>(at(world, source + i, pe));  // in place the store overwrites it
      if (member == 0) {
        running.start(given);
      } else {
        running.add(given);
      }
      const auto after = running.result();
      detail::store_pack<T, N>(at(world, dest + i, pe), Inclusive ? after : before);
      before = after;
    }
  }
};

}  // namespace causeway
