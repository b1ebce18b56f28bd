// The tile collectives of the interface: templates, so they are written here and not generated.
//
//   template <class src_tensor_t, class dst_tensor_t, class tuple_t, tile_coll_algo_t algo>
//   int tile_OP_allreduce<scope>(team, src, dst, start_coord, boundary, flag)        all tiles into every dst
//   int tile_OP_allreduce<scope>(team, src, dst, start_coord, boundary, root, flag)  by the root: into every dst
//   int tile_OP_reduce<scope>(team, src, dst, start_coord, boundary, root, flag)     by the root: into its dst
//   int tile_allgather<scope>(team, src, dst, start_coord, boundary, flag)           its tile to every member
//   template <tile_coll_algo_t algo> int tile_collective_wait<scope>(team, flag)     the scope's tiles are complete
//
// OP is sum, min or max; scope is nothing (a thread), _warp, _warpgroup or _block, all of whose threads call. src is
// symmetric, dst too where others write to it. The tile begins at start_coord of a tensor with the extents `boundary`;
// its elements beyond are left alone. flag must be 0. They do not meet: sources must be ready (a barrier or a signal
// before), and others may look at results after tile_collective_wait and a barrier or signal. 0 on success.
#pragma once
#include <causeway/api/on_group.hpp>
#include <causeway/api/tile_types.hpp>
#include <causeway/api/types.h>
#include <causeway/coll/tile.hpp>
#include <causeway/view/unit.hpp>

#include <cstdint>
#include <utility>

namespace causeway::api {

template <class Tuple>
struct TupleRank;
template <class... Ts>
struct TupleRank<cuda::std::tuple<Ts...>> {
  static constexpr int value = int(sizeof...(Ts));
};

template <size_t... D, class Tuple>
CAUSEWAY_DEVICE void unpack(std::index_sequence<D...>, const Tuple& tuple, int64_t* values) {
  ((values[D] = static_cast<int64_t>(cuda::std::get<D>(tuple))), ...);
}
template <class T, class Tensor>
CAUSEWAY_DEVICE auto tile_view(Tensor& tensor) {
  const auto extents = tensor.shape();
  const auto strides = tensor.stride();
  constexpr int rank = TupleRank<typename std::remove_cv<decltype(extents)>::type>::value;
  TileView<T, rank> view;
  view.data = tensor.data();
  unpack(std::make_index_sequence<rank>(), extents, view.extent);
  unpack(std::make_index_sequence<rank>(), strides, view.stride);
  return view;
}
template <int Rank, class Tuple>
CAUSEWAY_DEVICE TileBounds<Rank> tile_bounds(const Tuple& start, const Tuple& end) {
  TileBounds<Rank> bounds;
  unpack(std::make_index_sequence<Rank>(), start, bounds.start);
  unpack(std::make_index_sequence<Rank>(), end, bounds.end);
  return bounds;
}

/// The team, or null: misuse, reported.
CAUSEWAY_DEVICE const TeamView* check_tile(const char* name, int team, const void* src, const void* dst,
                                           bool dst_remote, int root, uint64_t flag) {
  const DeviceWorld& world = unit::world();
  const TeamView* view = find_team(world, name, team);
  if constexpr (machine::kChecks) {
    if (!view) return nullptr;
    const DeviceSide side{world, name};
    Check<DeviceSide> check(side);
    check.symmetric("src", src, 1);
    if (dst_remote) check.symmetric("dst", dst, 1);
    check.range("root", " is {}: must be a member's number in the team, 0 to {}", root, 0, view->pes - 1);
    check.range("flag", " is {}: must be 0", static_cast<long long>(flag), 0, 0);
    if (!check.good()) return nullptr;
  }
  return view;
}

template <class Operation, class Group, class Src, class Dst, class Tuple>
CAUSEWAY_DEVICE int tile_reduce(const char* name, Group group, int team, Src& src, Dst& dst, const Tuple& start,
                                const Tuple& boundary, TileTarget target, int root, uint64_t flag) {
  using T = typename Dst::value_type;
  static_assert(std::is_same<typename std::remove_cv<typename Src::value_type>::type, T>::value,
                "src and dst have elements of one type");
  const auto source = tile_view<const T>(src);
  const auto dest = tile_view<T>(dst);
  const TeamView* view = check_tile(name, team, source.data, dest.data, target == TileTarget::all, root, flag);
  if (!view) return NVSHMEMX_ERROR_INVALID_VALUE;
  constexpr int rank = TupleRank<Tuple>::value;
  causeway::tile_reduce<Operation>(unit::world(), group, *view, source, dest, tile_bounds<rank>(start, boundary),
                                   target, root);
  return NVSHMEMX_SUCCESS;
}

template <class Group, class Src, class Dst, class Tuple>
CAUSEWAY_DEVICE int tile_allgather(const char* name, Group group, int team, Src& src, Dst& dst, const Tuple& start,
                                   const Tuple& boundary, uint64_t flag) {
  using T = typename Dst::value_type;
  static_assert(std::is_same<typename std::remove_cv<typename Src::value_type>::type, T>::value,
                "src and dst have elements of one type");
  const auto source = tile_view<const T>(src);
  const auto dest = tile_view<T>(dst);
  const TeamView* view = check_tile(name, team, source.data, dest.data, true, 0, flag);
  if (!view) return NVSHMEMX_ERROR_INVALID_VALUE;
  constexpr int rank = TupleRank<Tuple>::value;
  causeway::tile_allgather(unit::world(), group, *view, source, dest, tile_bounds<rank>(start, boundary));
  return NVSHMEMX_SUCCESS;
}

template <class Group>
CAUSEWAY_DEVICE int tile_wait(const char* name, Group group, int team, uint64_t flag) {
  const DeviceWorld& world = unit::world();
  if (!find_team(world, name, team)) return NVSHMEMX_ERROR_INVALID_VALUE;
  if constexpr (machine::kChecks) {
    const DeviceSide side{world, name};
    Check<DeviceSide> check(side);
    check.range("flag", " is {}: must be 0", static_cast<long long>(flag), 0, 0);
    if (!check.good()) return NVSHMEMX_ERROR_INVALID_VALUE;
  }
  wait_for_tiles(world, group);
  return NVSHMEMX_SUCCESS;
}

}  // namespace causeway::api

namespace nvshmemx {

#define CAUSEWAY_TILE_TEMPLATE \
  template <typename src_tensor_t, typename dst_tensor_t, typename tuple_t, nvshmemx::tile_coll_algo_t algo>
#define CAUSEWAY_TILE_REDUCTIONS(op, Operation, suffix, Group)                                                        \
  CAUSEWAY_TILE_TEMPLATE                                                                                              \
  CAUSEWAY_DEVICE int tile_##op##_allreduce##suffix(nvshmem_team_t team, src_tensor_t src, dst_tensor_t dst,          \
                                                    tuple_t start_coord, tuple_t boundary, uint64_t flag) {           \
    return ::causeway::api::tile_reduce<::causeway::Operation>(                                                       \
        __func__, ::causeway::Group{}, team, src, dst, start_coord, boundary, ::causeway::TileTarget::own, 0, flag);  \
  }                                                                                                                   \
  CAUSEWAY_TILE_TEMPLATE                                                                                              \
  CAUSEWAY_DEVICE int tile_##op##_allreduce##suffix(nvshmem_team_t team, src_tensor_t src, dst_tensor_t dst,          \
                                                    tuple_t start_coord, tuple_t boundary, int root, uint64_t flag) { \
    return ::causeway::api::tile_reduce<::causeway::Operation>(__func__, ::causeway::Group{}, team, src, dst,         \
                                                               start_coord, boundary, ::causeway::TileTarget::all,    \
                                                               root, flag);                                           \
  }                                                                                                                   \
  CAUSEWAY_TILE_TEMPLATE                                                                                              \
  CAUSEWAY_DEVICE int tile_##op##_reduce##suffix(nvshmem_team_t team, src_tensor_t src, dst_tensor_t dst,             \
                                                 tuple_t start_coord, tuple_t boundary, int root, uint64_t flag) {    \
    return ::causeway::api::tile_reduce<::causeway::Operation>(__func__, ::causeway::Group{}, team, src, dst,         \
                                                               start_coord, boundary, ::causeway::TileTarget::root,   \
                                                               root, flag);                                           \
  }
#define CAUSEWAY_TILE_SCOPE(suffix, Group)                                                                       \
  CAUSEWAY_TILE_REDUCTIONS(sum, Sum, suffix, Group)                                                              \
  CAUSEWAY_TILE_REDUCTIONS(min, Min, suffix, Group)                                                              \
  CAUSEWAY_TILE_REDUCTIONS(max, Max, suffix, Group)                                                              \
  CAUSEWAY_TILE_TEMPLATE                                                                                         \
  CAUSEWAY_DEVICE int tile_allgather##suffix(nvshmem_team_t team, src_tensor_t src, dst_tensor_t dst,            \
                                             tuple_t start_coord, tuple_t boundary, uint64_t flag) {             \
    return ::causeway::api::tile_allgather(__func__, ::causeway::Group{}, team, src, dst, start_coord, boundary, \
                                           flag);                                                                \
  }                                                                                                              \
  template <nvshmemx::tile_coll_algo_t algo>                                                                     \
  CAUSEWAY_DEVICE int tile_collective_wait##suffix(nvshmem_team_t team, uint64_t flag) {                         \
    return ::causeway::api::tile_wait(__func__, ::causeway::Group{}, team, flag);                                \
  }
CAUSEWAY_TILE_SCOPE(, Thread)
CAUSEWAY_TILE_SCOPE(_warp, Warp)
CAUSEWAY_TILE_SCOPE(_warpgroup, Warpgroup)
CAUSEWAY_TILE_SCOPE(_block, Block)
#undef CAUSEWAY_TILE_SCOPE
#undef CAUSEWAY_TILE_REDUCTIONS
#undef CAUSEWAY_TILE_TEMPLATE

}  // namespace nvshmemx
