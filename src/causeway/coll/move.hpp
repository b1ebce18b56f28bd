// Collectives that move data (OpenSHMEM 1.5, section 9.11): everyone enters, data moves by one-sided copies, everyone
// leaves. All threads of the group call them; calls of one team do not overlap. A call with bad arguments enters all
// the same, so that nobody waits for it (enter.hpp).
#pragma once
#include <causeway/coll/enter.hpp>
#include <causeway/rma/rma.hpp>
#include <causeway/rma/strided.hpp>

namespace causeway {

namespace detail {

/// `bytes` at `source` to `dest` of every member, the own one last.
template <class Group>
CAUSEWAY_DEVICE void copy_to_all(const DeviceWorld& world, Group group, const TeamView& team, char* dest,
                                 const void* source, size_t bytes) {
  for (int i = 1; i <= team.pes; ++i) {
    const int member = (team.pe + i) % team.pes;
    if (member == team.pe && dest == source) continue;
    copy(group, Towards::peer, at(world, dest, world_pe(team, member)), source, bytes);
  }
}

}  // namespace detail

/// Member `root`'s source to every member's dest, the root's own included (section 9.11.6).
struct Broadcast {
  int team;
  void* dest;
  const void* source;
  size_t bytes;
  int root;

  static constexpr Kind kKind = Kind::broadcast;
  static constexpr const char* kName = "broadcast";
  using Result = int;

  template <class C>
  CAUSEWAY_HOST_DEVICE void check(C& check, const TeamView& view) const {
    check.pair(dest, bytes, source, bytes, dest == source);
    check.range("PE_root", " is {}: must be a member's number in the team, 0 to {}", root, 0, view.pes - 1);
  }
  template <class Group>
  CAUSEWAY_DEVICE bool run(const DeviceWorld& world, const char* name, Group group, const TeamView& view,
                           Arguments arguments) const {
    if (!enter(world, name, group, view, {kKind, dest, source, bytes, uint64_t(root), arguments})) return false;
    if (view.pe == root) {
      for (int i = 1; i < view.pes; ++i) {
        const int member = (root + i) % view.pes;
        copy(group, Towards::peer, at(world, static_cast<char*>(dest), world_pe(view, member)), source, bytes);
      }
      if (dest != source) copy(group, Towards::self, dest, source, bytes);
    }
    sync(world, name, group, view);
    return true;
  }
};

/// Every member's source, in member order, in every member's dest (section 9.11.7).
struct Fcollect {
  int team;
  void* dest;
  const void* source;
  size_t bytes;

  static constexpr Kind kKind = Kind::fcollect;
  static constexpr const char* kName = "fcollect";
  using Result = int;

  template <class C>
  CAUSEWAY_HOST_DEVICE void check(C& check, const TeamView& view) const {
    const bool in_place = static_cast<const char*>(dest) + size_t(view.pe) * bytes == source;
    check.pair(dest, bytes_of(bytes, size_t(view.pes)), source, bytes, in_place);
  }
  template <class Group>
  CAUSEWAY_DEVICE bool run(const DeviceWorld& world, const char* name, Group group, const TeamView& view,
                           Arguments arguments) const {
    if (!enter(world, name, group, view, {kKind, dest, source, bytes, 0, arguments})) return false;
    detail::copy_to_all(world, group, view, static_cast<char*>(dest) + size_t(view.pe) * bytes, source, bytes);
    sync(world, name, group, view);
    return true;
  }
};

/// fcollect of as many bytes as each member has (section 9.11.7): the members first tell each other how many.
struct Collect {
  int team;
  void* dest;
  const void* source;
  size_t bytes;

  static constexpr Kind kKind = Kind::collect;
  static constexpr const char* kName = "collect";
  using Result = int;

  template <class C>
  CAUSEWAY_HOST_DEVICE void check(C& check, const TeamView&) const {
    check.pair(dest, bytes, source, bytes, true);  // (where the others' lie is not known yet)
  }
  template <class Group>
  CAUSEWAY_DEVICE bool run(const DeviceWorld& world, const char* name, Group group, const TeamView& view,
                           Arguments arguments) const {
    if (!enter(world, name, group, view, {kKind, dest, nullptr, 1, 0, arguments})) return false;
    exchange(world, name, group, view, bytes);
    if (any_lost(world) && first_gone(world, view) >= 0)
      return false;  // what it gives has not come: old words lie there
    size_t before = 0, all = 0;
    for (int member = 0; member < view.pes; ++member) {
      if (member == view.pe) before = all;
      all += exchanged(view, member);
    }
    if (arguments != Arguments::unchecked && all > 0 &&
        !in_heap(world, dest, all)) {  // all members come to the same answer
      sync(world, name, group, view);
      if (leads(group))
        misuse(world, name, "dest",
               " is {x} ({} bytes of all members): must lie in the caller's symmetric heap of {} bytes",
               reinterpret_cast<long long>(dest), static_cast<long long>(all),
               static_cast<long long>(*world.heap_bytes));
      return false;
    }
    detail::copy_to_all(world, group, view, static_cast<char*>(dest) + before, source, bytes);
    sync(world, name, group, view);
    return true;
  }
};

/// Block j of a member's source becomes block (number of the member) of member j's dest (section 9.11.8).
struct Alltoall {
  int team;
  void* dest;
  const void* source;
  size_t bytes;

  static constexpr Kind kKind = Kind::alltoall;
  static constexpr const char* kName = "alltoall";
  using Result = int;

  template <class C>
  CAUSEWAY_HOST_DEVICE void check(C& check, const TeamView& view) const {
    const size_t all = bytes_of(bytes, size_t(view.pes));
    check.pair(dest, all, source, all, false);
  }
  template <class Group>
  CAUSEWAY_DEVICE bool run(const DeviceWorld& world, const char* name, Group group, const TeamView& view,
                           Arguments arguments) const {
    if (!enter(world, name, group, view, {kKind, dest, source, bytes, 0, arguments})) return false;
    char* slot = static_cast<char*>(dest) + size_t(view.pe) * bytes;
    for (int i = 1; i <= view.pes; ++i) {
      const int member = (view.pe + i) % view.pes;
      copy(group, Towards::peer, at(world, slot, world_pe(view, member)),
           static_cast<const char*>(source) + size_t(member) * bytes, bytes);
    }
    sync(world, name, group, view);
    return true;
  }
};

/// alltoall of blocks whose elements lie `dest_stride` and `source_stride` elements apart.
template <size_t Bytes>
struct Alltoalls {
  int team;
  void* dest;
  const void* source;
  ptrdiff_t dest_stride, source_stride;
  size_t elements;

  static constexpr Kind kKind = Kind::alltoalls;
  static constexpr const char* kName = "alltoalls";
  using Result = int;

  template <class C>
  CAUSEWAY_HOST_DEVICE void check(C& check, const TeamView& view) const {
    const size_t all = bytes_of(elements, size_t(view.pes));
    check.range("dst", " is {}: must be at least 1", dest_stride, 1, INT64_MAX);
    check.range("sst", " is {}: must be at least 1", source_stride, 1, INT64_MAX);
    check.strided("dest", dest, dest_stride, all, Bytes);
    check.strided("source", source, source_stride, all, Bytes);
    if (all > 0)
      check.apart(dest, ((all - 1) * size_t(dest_stride) + 1) * Bytes, source,
                  ((all - 1) * size_t(source_stride) + 1) * Bytes, false);
  }
  template <class Group>
  CAUSEWAY_DEVICE bool run(const DeviceWorld& world, const char* name, Group group, const TeamView& view,
                           Arguments arguments) const {
    const uint64_t strides = uint64_t(dest_stride) * 0x100000001u + uint64_t(source_stride);
    if (!enter(world, name, group, view, {kKind, dest, source, elements * Bytes, strides, arguments})) return false;
    const ptrdiff_t block = ptrdiff_t(elements) * ptrdiff_t(Bytes);
    char* slot = static_cast<char*>(dest) + ptrdiff_t(view.pe) * dest_stride * block;
    for (int i = 1; i <= view.pes; ++i) {
      const int member = (view.pe + i) % view.pes;
      copy_strided<Bytes>(group, Towards::peer, at(world, slot, world_pe(view, member)),
                          static_cast<const char*>(source) + ptrdiff_t(member) * source_stride * block, dest_stride,
                          source_stride, elements);
    }
    sync(world, name, group, view);
    return true;
  }
};

}  // namespace causeway
