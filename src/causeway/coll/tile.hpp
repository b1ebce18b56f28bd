// Collectives on tiles: strided pieces of tensors that the blocks of a kernel reduce or gather each on their own, as
// parts of a larger kernel. By load and store. There is no meeting inside, since every block calls them for tiles of
// its own: what is read must be ready (a barrier or signal before), and what was written is complete after
// wait_for_tiles().
#pragma once
#include <causeway/coll/combine.hpp>
#include <causeway/view/heap_view.hpp>
#include <causeway/order/order.hpp>

#include <cstddef>
#include <cstdint>

namespace causeway {

/// A tile in memory: `Rank` extents and strides, in elements.
template <class T, int Rank>
struct TileView {
  T* data;
  int64_t extent[Rank], stride[Rank];
};
/// Where the tile begins in the whole tensor, and the tensor's extents: elements outside are left alone.
template <int Rank>
struct TileBounds {
  int64_t start[Rank], end[Rank];
};

namespace detail {

template <class T, int Rank>
CAUSEWAY_DEVICE int64_t tile_elements(const TileView<T, Rank>& tile) {
  int64_t count = 1;
  for (int d = 0; d < Rank; ++d) count *= tile.extent[d];
  return count;
}

/// Calls body(offset in source, offset in dest) for the tile's elements inside the bounds, dealt to the group.
/// Neighbours of the group take neighbours in memory: the dimension that is contiguous in dest runs fastest.
template <class S, class D, int Rank, class Group, class Body>
CAUSEWAY_DEVICE void for_tile(Group group, const TileView<S, Rank>& source, const TileView<D, Rank>& dest,
                              const TileBounds<Rank>& bounds, Body body) {
  const bool last_runs_fastest = dest.stride[0] != 1 && dest.stride[Rank - 1] == 1;
  const int64_t count = tile_elements(source);
  for (int64_t i = group.rank(); i < count; i += group.size()) {
    int64_t rest = i, from = 0, to = 0;
    bool inside = true;
    for (int k = 0; k < Rank; ++k) {
      const int d = last_runs_fastest ? Rank - 1 - k : k;
      const int64_t coordinate = rest % source.extent[d];
      rest /= source.extent[d];
      inside = inside && bounds.start[d] + coordinate < bounds.end[d];
      from += coordinate * source.stride[d];
      to += coordinate * dest.stride[d];
    }
    if (inside) body(from, to);
  }
}

}  // namespace detail

/// Who gets the result of a reduction.
enum class TileTarget { own, root, all };

/// Combines the members' source tiles, in member order. `own`: the caller's, into its own dest. `root`, `all`: done by
/// member `root` alone, into its own dest or into everyone's. All threads of the group call it.
template <class Operation, class T, int Rank, class Group>
CAUSEWAY_DEVICE void tile_reduce(const DeviceWorld& world, Group group, const TeamView& team,
                                 const TileView<const T, Rank>& source, const TileView<T, Rank>& dest,
                                 const TileBounds<Rank>& bounds, TileTarget target, int root) {
  group.sync();
  if (target == TileTarget::own || team.pe == root) {
    detail::for_tile(group, source, dest, bounds, [&](int64_t from, int64_t to) {
      const auto result = detail::combine_members<Operation, 1>(world, team, source.data + from);
      const int receivers = target == TileTarget::all ? team.pes : 1;
      for (int k = 0; k < receivers; ++k) {
        const int member = (team.pe + k) % team.pes;
        detail::store_pack<T, 1>(at(world, dest.data + to, world_pe(team, member)), result);
      }
    });
  }
  group.sync();
}

/// The caller's source tile to every member's dest, as the tile of that number: tiles lie one source tile's elements
/// apart.
template <class T, int Rank, class Group>
CAUSEWAY_DEVICE void tile_allgather(const DeviceWorld& world, Group group, const TeamView& team,
                                    const TileView<const T, Rank>& source, const TileView<T, Rank>& dest,
                                    const TileBounds<Rank>& bounds) {
  group.sync();
  T* slot = dest.data + int64_t(team.pe) * detail::tile_elements(source);
  detail::for_tile(group, source, dest, bounds, [&](int64_t from, int64_t to) {
    const T value = machine::load_peer(source.data + from);
    for (int k = 1; k <= team.pes; ++k)
      machine::store_peer(at(world, slot + to, world_pe(team, (team.pe + k) % team.pes)), value);
  });
  group.sync();
}

/// What the group's tile collectives wrote is complete at its targets.
template <class Group>
CAUSEWAY_DEVICE void wait_for_tiles(const DeviceWorld& world, Group group) {
  group.sync();
  quiet(world);
  group.sync();
}

}  // namespace causeway
