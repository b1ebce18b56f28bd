// Meetings and collectives on a stream: kernels that call what device code calls, in a team's device channel for streams,
// in its host channel for host threads of a CUDA program.
#pragma once
#include <causeway/api/guard.hpp>
#include <causeway/api/host/check.hpp>
#include <causeway/coll/move.hpp>
#include <causeway/coll/reduce.hpp>
#include <causeway/machine/launch.hpp>
#include <causeway/host/machine_host.hpp>

#include <cstdint>
#include <exception>

namespace causeway::host {

#if defined(CAUSEWAY_CPU)
using StreamGroup = Thread;
#else
using StreamGroup = Block;
#endif
using Stream = machine_host::Stream;

// ---------------------------------------------------------------- kernels
// `team` is a slot of world.teams: a team's device channel, or its host channel. Names are literals of the device code.

struct BarrierKernel {
  DeviceWorld world;
  int team;
  bool completes;
  CAUSEWAY_DEVICE void operator()() const {
    if (completes) {
      causeway::barrier(world, "barrier on a stream", StreamGroup{}, world.teams[team]);
    } else {
      causeway::sync(world, "sync on a stream", StreamGroup{}, world.teams[team]);
    }
  }
};

struct BroadcastCall {
  void* dest;
  const void* source;
  size_t bytes;
  int root;
  CAUSEWAY_DEVICE void run(const DeviceWorld& world, const TeamView& team, Arguments arguments) const {
    causeway::broadcast(world, "broadcast", StreamGroup{}, team, dest, source, bytes, root, arguments);
  }
};
struct FcollectCall {
  void* dest;
  const void* source;
  size_t bytes;
  CAUSEWAY_DEVICE void run(const DeviceWorld& world, const TeamView& team, Arguments arguments) const {
    causeway::fcollect(world, "fcollect", StreamGroup{}, team, dest, source, bytes, arguments);
  }
};
struct CollectCall {
  void* dest;
  const void* source;
  size_t bytes;
  CAUSEWAY_DEVICE void run(const DeviceWorld& world, const TeamView& team, Arguments arguments) const {
    causeway::collect(world, "collect", StreamGroup{}, team, dest, source, bytes, arguments);
  }
};
struct AlltoallCall {
  void* dest;
  const void* source;
  size_t bytes;
  CAUSEWAY_DEVICE void run(const DeviceWorld& world, const TeamView& team, Arguments arguments) const {
    causeway::alltoall(world, "alltoall", StreamGroup{}, team, dest, source, bytes, arguments);
  }
};
template <size_t Bytes>
struct AlltoallsCall {
  void* dest;
  const void* source;
  ptrdiff_t dest_stride, source_stride;
  size_t elements;
  CAUSEWAY_DEVICE void run(const DeviceWorld& world, const TeamView& team, Arguments arguments) const {
    causeway::alltoalls(world, "alltoalls", StreamGroup{}, team, Element<Bytes>{}, dest, source, dest_stride,
                        source_stride, elements, arguments);
  }
};
template <class Operation, class T>
struct ReduceCall {
  T* dest;
  const T* source;
  size_t count;
  CAUSEWAY_DEVICE void run(const DeviceWorld& world, const TeamView& team, Arguments arguments) const {
    causeway::reduce<Operation>(world, "reduce", StreamGroup{}, team, dest, source, count, arguments);
  }
};
template <class Operation, class T>
struct ReducescatterCall {
  T* dest;
  const T* source;
  size_t count;
  CAUSEWAY_DEVICE void run(const DeviceWorld& world, const TeamView& team, Arguments arguments) const {
    causeway::reducescatter<Operation>(world, "reducescatter", StreamGroup{}, team, dest, source, count, arguments);
  }
};
template <class T>
struct ScanCall {
  T* dest;
  const T* source;
  size_t count;
  bool inclusive;
  CAUSEWAY_DEVICE void run(const DeviceWorld& world, const TeamView& team, Arguments arguments) const {
    causeway::sum_scan(world, "scan", StreamGroup{}, team, dest, source, count, inclusive, arguments);
  }
};

template <class Call>
struct CollectiveKernel {
  DeviceWorld world;
  int team;
  Call call;
  Arguments arguments;
  CAUSEWAY_DEVICE void operator()() const { call.run(world, world.teams[team], arguments); }
};

// ---------------------------------------------------------------- where they run

/// In the stream it is given.
struct OnStream {
  Stream stream;
  static constexpr bool waits = false;
  [[nodiscard]] int slot(const DeviceWorld&, int team) const { return team; }
};

/// Checks, launches, and where `waits` is set waits. Members always compare what they were called with: the launch hides it.
/// A PE with bad arguments enters all the same, so that the others learn of it instead of waiting (coll/enter.hpp).
template <class Place, class Call, class Check>
int run_collective(const char* name, Place place, int team, const Call& call, Check check) {
  return guard(name, [&] {
    const DeviceWorld& world = check_team(name, team);
    std::exception_ptr wrong;
    try {
      check();
    } catch (const Error&) {
      wrong = std::current_exception();
    }
    machine::launch(
        CollectiveKernel<Call>{world, place.slot(world, team), call, wrong ? Arguments::bad : Arguments::good}, 1,
        machine::kStreamThreads, place.stream);
    if (Place::waits) machine_host::synchronize(place.stream);
    if (wrong) std::rethrow_exception(wrong);
    check_faults(name);
  });
}

template <class Place>
int run_broadcast(const char* name, Place place, int team, void* dest, const void* source, size_t bytes, int root) {
  return run_collective(name, place, team, BroadcastCall{dest, source, bytes, root}, [&] {
    check_apart(name, dest, bytes, source, bytes, true);
    check_root(name, team, root);
  });
}
template <class Place>
int run_fcollect(const char* name, Place place, int team, void* dest, const void* source, size_t bytes) {
  return run_collective(name, place, team, FcollectCall{dest, source, bytes}, [&] {
    const bool in_place = static_cast<char*>(dest) + size_t(team_number(name, team)) * bytes == source;
    const size_t all = bytes_of(bytes, size_t(team_size(name, team)));
    check_places(name, dest, all, source, bytes);
    if (!in_place) check_apart(name, dest, all, source, bytes, false);
  });
}
template <class Place>
int run_collect(const char* name, Place place, int team, void* dest, const void* source, size_t bytes) {
  return run_collective(name, place, team, CollectCall{dest, source, bytes},
                        [&] { check_places(name, dest, bytes, source, bytes); });
}
template <class Place>
int run_alltoall(const char* name, Place place, int team, void* dest, const void* source, size_t bytes) {
  return run_collective(name, place, team, AlltoallCall{dest, source, bytes}, [&] {
    const size_t all = bytes_of(bytes, size_t(team_size(name, team)));
    check_apart(name, dest, all, source, all, false);
  });
}
template <class Place, size_t Bytes>
int run_alltoalls(const char* name, Place place, Element<Bytes>, int team, void* dest, const void* source,
                  ptrdiff_t dest_stride, ptrdiff_t source_stride, size_t elements) {
  const AlltoallsCall<Bytes> call{dest, source, dest_stride, source_stride, elements};
  return run_collective(name, place, team, call, [&] {
    if (dest_stride < 1 || source_stride < 1)
      fail(Status::invalid_value, "dst is {} and sst is {}: both must be at least 1", dest_stride, source_stride);
    const size_t all = bytes_of(elements, size_t(team_size(name, team)));
    check_strided(name, "dest", dest, dest_stride, all, Bytes);
    check_strided(name, "source", source, source_stride, all, Bytes);
    if (all > 0)
      check_apart(name, dest, ((all - 1) * size_t(dest_stride) + 1) * Bytes, source,
                  ((all - 1) * size_t(source_stride) + 1) * Bytes, false);
  });
}

template <class T>
void check_reduction(const char* name, const T* dest, size_t dest_count, const T* source, size_t source_count) {
  check_alignment(name, "dest", dest, alignof(T));
  check_alignment(name, "source", source, alignof(T));
  check_apart(name, dest, bytes_of(dest_count, sizeof(T)), source, bytes_of(source_count, sizeof(T)), true);
}
template <class Place, class Operation, class T>
int run_reduce(const char* name, Place place, Operation, int team, T* dest, const T* source, size_t count) {
  using Plain = typename Canonical<Operation, T>::type;
  const ReduceCall<Operation, Plain> call{reinterpret_cast<Plain*>(dest), reinterpret_cast<const Plain*>(source),
                                          count};
  return run_collective(name, place, team, call, [&] { check_reduction(name, dest, count, source, count); });
}
template <class Place, class Operation, class T>
int run_reducescatter(const char* name, Place place, Operation, int team, T* dest, const T* source, size_t count) {
  using Plain = typename Canonical<Operation, T>::type;
  const ReducescatterCall<Operation, Plain> call{reinterpret_cast<Plain*>(dest), reinterpret_cast<const Plain*>(source),
                                                 count};
  return run_collective(name, place, team, call, [&] {
    check_reduction(name, dest, count, source, bytes_of(count, size_t(team_size(name, team))));
  });
}
template <class Place, class T>
int run_sum_scan(const char* name, Place place, int team, T* dest, const T* source, size_t count, bool inclusive) {
  using Plain = typename Canonical<Sum, T>::type;
  const ScanCall<Plain> call{reinterpret_cast<Plain*>(dest), reinterpret_cast<const Plain*>(source), count, inclusive};
  return run_collective(name, place, team, call, [&] { check_reduction(name, dest, count, source, count); });
}

// ---------------------------------------------------------------- the public forms
// A fault that device code has left is told after the operation: a PE that stayed away would leave the others waiting.

inline int meet_on_stream(const char* name, int team, bool completes, Stream stream) {
  return guard(name, [&] {
    const DeviceWorld& world = check_team(name, team);
    const unsigned threads = machine::kStreamThreads == 1 ? 1 : 32;
    machine::launch(BarrierKernel{world, team, completes}, 1, threads, stream);
    check_faults(name);
  });
}
inline int barrier_on_stream(const char* name, int team, Stream stream) {
  return meet_on_stream(name, team, true, stream);
}
inline void barrier_all_on_stream(const char* name, Stream stream) { meet_on_stream(name, 0, true, stream); }
inline int team_sync_on_stream(const char* name, int team, Stream stream) {
  return meet_on_stream(name, team, false, stream);
}
inline void sync_all_on_stream(const char* name, Stream stream) { meet_on_stream(name, 0, false, stream); }

inline int broadcast_on_stream(const char* name, int team, void* dest, const void* source, size_t bytes, int root,
                               Stream stream) {
  return run_broadcast(name, OnStream{stream}, team, dest, source, bytes, root);
}
inline int fcollect_on_stream(const char* name, int team, void* dest, const void* source, size_t bytes, Stream stream) {
  return run_fcollect(name, OnStream{stream}, team, dest, source, bytes);
}
inline int collect_on_stream(const char* name, int team, void* dest, const void* source, size_t bytes, Stream stream) {
  return run_collect(name, OnStream{stream}, team, dest, source, bytes);
}
inline int alltoall_on_stream(const char* name, int team, void* dest, const void* source, size_t bytes, Stream stream) {
  return run_alltoall(name, OnStream{stream}, team, dest, source, bytes);
}
template <size_t Bytes>
int alltoalls_on_stream(const char* name, Element<Bytes> element, int team, void* dest, const void* source,
                        ptrdiff_t dest_stride, ptrdiff_t source_stride, size_t elements, Stream stream) {
  return run_alltoalls(name, OnStream{stream}, element, team, dest, source, dest_stride, source_stride, elements);
}
template <class Operation, class T>
int reduce_on_stream(const char* name, Operation operation, int team, T* dest, const T* source, size_t count,
                     Stream stream) {
  return run_reduce(name, OnStream{stream}, operation, team, dest, source, count);
}
template <class Operation, class T>
int reducescatter_on_stream(const char* name, Operation operation, int team, T* dest, const T* source, size_t count,
                            Stream stream) {
  return run_reducescatter(name, OnStream{stream}, operation, team, dest, source, count);
}
template <class T>
int sum_scan_on_stream(const char* name, int team, T* dest, const T* source, size_t count, bool inclusive,
                       Stream stream) {
  return run_sum_scan(name, OnStream{stream}, team, dest, source, count, inclusive);
}

}  // namespace causeway::host
