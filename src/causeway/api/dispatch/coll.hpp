// Collectives (see dispatch.hpp).
#pragma once
#include <causeway/api/check.hpp>
#include <causeway/api/types.h>
#include <causeway/coll/move.hpp>
#include <causeway/coll/reduce.hpp>
#include <causeway/view/unit.hpp>

#include <cstddef>
#include <cstdint>

namespace causeway::api {

CAUSEWAY_DEVICE int status_of(bool moved) {
  if (moved) return NVSHMEMX_SUCCESS;
  return any_lost(unit::world()) ? NVSHMEMX_ERROR_INTERNAL : NVSHMEMX_ERROR_INVALID_VALUE;
}

/// Members compare arguments where device code checks them.
CAUSEWAY_DEVICE Arguments checked(bool good) {
  if (!machine::kChecks) return Arguments::unchecked;
  return good ? Arguments::good : Arguments::bad;
}

CAUSEWAY_DEVICE bool check_places(const DeviceWorld& world, const char* name, const void* dest, size_t dest_bytes,
                                  const void* source, size_t source_bytes) {
  return check_symmetric(world, name, kDestSymmetric, dest, dest_bytes) &&
         check_symmetric(world, name, kSourceSymmetric, source, source_bytes);
}
template <class T>
CAUSEWAY_DEVICE bool check_both_aligned(const DeviceWorld& world, const char* name, const T* dest, const T* source) {
  return check_aligned(world, name, kDestAligned, dest) && check_aligned(world, name, kSourceAligned, source);
}
/// For collectives that are not done in place.
CAUSEWAY_DEVICE bool check_apart(const DeviceWorld& world, const char* name, const void* dest, size_t dest_bytes,
                                 const void* source, size_t source_bytes) {
  if (!machine::kChecks || dest_bytes == 0 || source_bytes == 0) return true;
  const uint64_t to = heap_offset(world, dest), from = heap_offset(world, source);
  if (to >= from + source_bytes || from >= to + dest_bytes) return true;
  misuse(world, name, "dest and source must not overlap: they lie at heap offsets {} and {}",
         static_cast<long long>(to), static_cast<long long>(from));
  return false;
}

// A call with bad arguments enters all the same, so that nobody waits for it (coll/enter.hpp).

template <class Group>
CAUSEWAY_DEVICE int broadcast(const char* name, Group group, nvshmem_team_t team, void* dest, const void* source,
                              size_t bytes, int root) {
  const DeviceWorld& world = unit::world();
  const TeamView* view = find_team(world, name, team);
  if (!view) return NVSHMEMX_ERROR_INVALID_VALUE;
  const bool good =
      check_places(world, name, dest, bytes, source, bytes) &&
      (dest == source || check_apart(world, name, dest, bytes, source, bytes)) &&
      check_range(world, name, "PE_root is {}: must be a member's number in the team, 0 to {}", root, 0, view->pes - 1);
  return status_of(causeway::broadcast(world, name, group, *view, dest, source, bytes, root, checked(good)));
}

template <class Group>
CAUSEWAY_DEVICE int fcollect(const char* name, Group group, nvshmem_team_t team, void* dest, const void* source,
                             size_t bytes) {
  const DeviceWorld& world = unit::world();
  const TeamView* view = find_team(world, name, team);
  if (!view) return NVSHMEMX_ERROR_INVALID_VALUE;
  const size_t all = bytes_of(bytes, size_t(view->pes));
  const bool in_place = static_cast<const char*>(dest) + size_t(view->pe) * bytes == source;
  const bool good = check_places(world, name, dest, all, source, bytes) &&
                    (in_place || check_apart(world, name, dest, all, source, bytes));
  return status_of(causeway::fcollect(world, name, group, *view, dest, source, bytes, checked(good)));
}

template <class Group>
CAUSEWAY_DEVICE int collect(const char* name, Group group, nvshmem_team_t team, void* dest, const void* source,
                            size_t bytes) {
  const DeviceWorld& world = unit::world();
  const TeamView* view = find_team(world, name, team);
  if (!view) return NVSHMEMX_ERROR_INVALID_VALUE;
  const bool good = check_places(world, name, dest, bytes, source, bytes);
  return status_of(causeway::collect(world, name, group, *view, dest, source, bytes, checked(good)));
}

template <class Group>
CAUSEWAY_DEVICE int alltoall(const char* name, Group group, nvshmem_team_t team, void* dest, const void* source,
                             size_t bytes) {
  const DeviceWorld& world = unit::world();
  const TeamView* view = find_team(world, name, team);
  if (!view) return NVSHMEMX_ERROR_INVALID_VALUE;
  const size_t all = bytes_of(bytes, size_t(view->pes));
  const bool good =
      check_places(world, name, dest, all, source, all) && check_apart(world, name, dest, all, source, all);
  return status_of(causeway::alltoall(world, name, group, *view, dest, source, bytes, checked(good)));
}

template <size_t Bytes, class Group>
CAUSEWAY_DEVICE int alltoalls(const char* name, Group group, Element<Bytes> element, nvshmem_team_t team, void* dest,
                              const void* source, ptrdiff_t dest_stride, ptrdiff_t source_stride, size_t elements) {
  const DeviceWorld& world = unit::world();
  const TeamView* view = find_team(world, name, team);
  if (!view) return NVSHMEMX_ERROR_INVALID_VALUE;
  const size_t all = bytes_of(elements, size_t(view->pes));
  const bool good = check_range(world, name, "dst is {}: must be at least 1", dest_stride, 1, INT64_MAX) &&
                    check_range(world, name, "sst is {}: must be at least 1", source_stride, 1, INT64_MAX) &&
                    check_strided(world, name, kDestSymmetric, dest, dest_stride, all, Bytes) &&
                    check_strided(world, name, kSourceSymmetric, source, source_stride, all, Bytes) &&
                    (all == 0 || check_apart(world, name, dest, ((all - 1) * size_t(dest_stride) + 1) * Bytes, source,
                                             ((all - 1) * size_t(source_stride) + 1) * Bytes));
  return status_of(causeway::alltoalls(world, name, group, *view, element, dest, source, dest_stride, source_stride,
                                       elements, checked(good)));
}

template <class Operation, class T, class Group>
CAUSEWAY_DEVICE int reduce(const char* name, Group group, Operation, nvshmem_team_t team, T* dest, const T* source,
                           size_t count) {
  using Plain = typename Canonical<Operation, T>::type;
  const DeviceWorld& world = unit::world();
  const TeamView* view = find_team(world, name, team);
  if (!view) return NVSHMEMX_ERROR_INVALID_VALUE;
  const size_t bytes = bytes_of(count, sizeof(T));
  const bool good = check_both_aligned(world, name, dest, source) &&
                    check_places(world, name, dest, bytes, source, bytes) &&
                    (dest == source || check_apart(world, name, dest, bytes, source, bytes));
  return status_of(causeway::reduce<Operation>(world, name, group, *view, reinterpret_cast<Plain*>(dest),
                                               reinterpret_cast<const Plain*>(source), count, checked(good)));
}

template <class Operation, class T, class Group>
CAUSEWAY_DEVICE int reducescatter(const char* name, Group group, Operation, nvshmem_team_t team, T* dest,
                                  const T* source, size_t count) {
  using Plain = typename Canonical<Operation, T>::type;
  const DeviceWorld& world = unit::world();
  const TeamView* view = find_team(world, name, team);
  if (!view) return NVSHMEMX_ERROR_INVALID_VALUE;
  const size_t bytes = bytes_of(count, sizeof(T)), all = bytes_of(bytes, size_t(view->pes));
  const bool good = check_both_aligned(world, name, dest, source) &&
                    check_places(world, name, dest, bytes, source, all) &&
                    (dest == source || check_apart(world, name, dest, bytes, source, all));
  return status_of(causeway::reducescatter<Operation>(world, name, group, *view, reinterpret_cast<Plain*>(dest),
                                                      reinterpret_cast<const Plain*>(source), count, checked(good)));
}

template <class T, class Group>
CAUSEWAY_DEVICE int sum_scan(const char* name, Group group, nvshmem_team_t team, T* dest, const T* source, size_t count,
                             bool inclusive) {
  using Plain = typename Canonical<Sum, T>::type;
  const DeviceWorld& world = unit::world();
  const TeamView* view = find_team(world, name, team);
  if (!view) return NVSHMEMX_ERROR_INVALID_VALUE;
  const size_t bytes = bytes_of(count, sizeof(T));
  const bool good = check_both_aligned(world, name, dest, source) &&
                    check_places(world, name, dest, bytes, source, bytes) &&
                    (dest == source || check_apart(world, name, dest, bytes, source, bytes));
  return status_of(causeway::sum_scan(world, name, group, *view, reinterpret_cast<Plain*>(dest),
                                      reinterpret_cast<const Plain*>(source), count, inclusive, checked(good)));
}

}  // namespace causeway::api
