// Host calls of the CUDA machine that meet: the stream's kernels on the library's own stream, in the team's host channel.
#pragma once
#include <causeway/api/host/move.hpp>
#include <causeway/api/stream/coll.hpp>

namespace causeway::host {

/// On the library's own stream, complete on return.
struct OnHost {
  Stream stream;
  static constexpr bool waits = true;
  [[nodiscard]] int slot(const DeviceWorld& world, int team) const { return world.teams_max + team; }
};

/// Runs `call` with the place; a status. (The place is made inside: before init there is none.)
template <class Call>
int on_host(const char* name, int team, Call call) {
  int status = NVSHMEMX_SUCCESS;
  const int found = guard(name, [&] {
    check_team(name, team);
    status = call(OnHost{own(name)});
  });
  return found != NVSHMEMX_SUCCESS ? found : status;
}

inline int meet(const char* name, int team, bool completes) {
  return guard(name, [&] {
    const DeviceWorld& world = check_team(name, team);
    machine_host::barrier(world, name, team, completes);
    check_faults(name);
  });
}
inline int barrier(const char* name, int team) { return meet(name, team, true); }
inline void barrier_all(const char* name) { meet(name, NVSHMEM_TEAM_WORLD, true); }
inline int team_sync(const char* name, int team) { return meet(name, team, false); }
inline void sync_all(const char* name) { meet(name, NVSHMEM_TEAM_WORLD, false); }

inline int broadcast(const char* name, int team, void* dest, const void* source, size_t bytes, int root) {
  return on_host(name, team, [&](OnHost place) { return run_broadcast(name, place, team, dest, source, bytes, root); });
}
inline int fcollect(const char* name, int team, void* dest, const void* source, size_t bytes) {
  return on_host(name, team, [&](OnHost place) { return run_fcollect(name, place, team, dest, source, bytes); });
}
inline int collect(const char* name, int team, void* dest, const void* source, size_t bytes) {
  return on_host(name, team, [&](OnHost place) { return run_collect(name, place, team, dest, source, bytes); });
}
inline int alltoall(const char* name, int team, void* dest, const void* source, size_t bytes) {
  return on_host(name, team, [&](OnHost place) { return run_alltoall(name, place, team, dest, source, bytes); });
}
template <size_t Bytes>
int alltoalls(const char* name, Element<Bytes> element, int team, void* dest, const void* source, ptrdiff_t dest_stride,
              ptrdiff_t source_stride, size_t elements) {
  return on_host(name, team, [&](OnHost place) {
    return run_alltoalls(name, place, element, team, dest, source, dest_stride, source_stride, elements);
  });
}
template <class Operation, class T>
int reduce(const char* name, Operation operation, int team, T* dest, const T* source, size_t count) {
  return on_host(name, team,
                 [&](OnHost place) { return run_reduce(name, place, operation, team, dest, source, count); });
}
template <class Operation, class T>
int reducescatter(const char* name, Operation operation, int team, T* dest, const T* source, size_t count) {
  return on_host(name, team,
                 [&](OnHost place) { return run_reducescatter(name, place, operation, team, dest, source, count); });
}
template <class T>
int sum_scan(const char* name, int team, T* dest, const T* source, size_t count, bool inclusive) {
  return on_host(name, team,
                 [&](OnHost place) { return run_sum_scan(name, place, team, dest, source, count, inclusive); });
}

}  // namespace causeway::host
