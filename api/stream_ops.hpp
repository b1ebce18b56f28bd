// The stream-ordered operations: kernels of the library that call the same device operations as everybody, and copies.
// Compiled for the CPU machine by the host compiler and for CUDA by nvcc.
#pragma once
#include <causeway/api/guard.hpp>
#include <causeway/api/host_check.hpp>
#include <causeway/coll/coll.hpp>
#include <causeway/heap/heap_view.hpp>
#include <causeway/machine/launch.hpp>
#include <causeway/runtime/machine_host.hpp>
#include <causeway/signal/signal.hpp>

#include <cstdint>
#include <type_traits>

namespace causeway::host {

#if defined(CAUSEWAY_CPU)
using StreamGroup = Thread;
#else
using StreamGroup = Block;
#endif

// ---------------------------------------------------------------- kernels
// `team` is a slot of world.teams: a team's device channel, or its host channel. Names are literals of the device code.

template <class T>
struct PKernel {
  DeviceWorld world;
  T* dest;
  T value;
  int pe;
  CAUSEWAY_DEVICE void operator()() const { causeway::p(world, dest, value, pe); }
};

struct SignalKernel {
  DeviceWorld world;
  uint64_t* word;
  uint64_t value;
  int operation, pe;
  bool releases;  // what the stream did before is visible to whoever sees the signal
  CAUSEWAY_DEVICE void operator()() const {
    if (releases) fence(world);
    causeway::signal_op(world, word, value, operation, pe);
  }
};

template <class T>
struct WaitKernel {
  DeviceWorld world;
  T* variable;
  int comparison;
  T value;
  CAUSEWAY_DEVICE void operator()() const {
    causeway::wait_until(world, "wait_until on a stream", variable, comparison, value);
  }
};

struct QuietKernel {
  DeviceWorld world;
  CAUSEWAY_DEVICE void operator()() const { causeway::quiet(world); }
};

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

struct BroadcastKernel {
  DeviceWorld world;
  int team;
  void* dest;
  const void* source;
  size_t bytes;
  int root;
  CAUSEWAY_DEVICE void operator()() const {
    causeway::broadcast(world, "broadcast on a stream", StreamGroup{}, world.teams[team], dest, source, bytes, root);
  }
};

struct FcollectKernel {
  DeviceWorld world;
  int team;
  void* dest;
  const void* source;
  size_t bytes;
  CAUSEWAY_DEVICE void operator()() const {
    causeway::fcollect(world, "fcollect on a stream", StreamGroup{}, world.teams[team], dest, source, bytes);
  }
};

template <class T>
struct SumKernel {
  DeviceWorld world;
  int team;
  T* dest;
  const T* source;
  size_t count;
  CAUSEWAY_DEVICE void operator()() const {
    causeway::reduce<Sum>(world, "sum_reduce on a stream", StreamGroup{}, world.teams[team], dest, source, count);
  }
};

// ---------------------------------------------------------------- operations
// A fault that device code has left is told after the operation: a PE that stayed away would leave the others waiting.

using Stream = machine_host::Stream;

inline void put_on_stream(const char* name, void* dest, const void* source, size_t bytes, int pe, Stream stream) {
  guard(name, [&] {
    const DeviceWorld& world = check_remote(name, "dest", dest, bytes, pe);
    machine_host::copy_on_stream(at(world, dest, pe), source, bytes, stream);
  });
}
inline void get_on_stream(const char* name, void* dest, const void* source, size_t bytes, int pe, Stream stream) {
  guard(name, [&] {
    const DeviceWorld& world = check_remote(name, "source", source, bytes, pe);
    machine_host::copy_on_stream(dest, at(world, source, pe), bytes, stream);
  });
}
inline void put_nbi_on_stream(const char* name, void* dest, const void* source, size_t bytes, int pe, Stream stream) {
  put_on_stream(name, dest, source, bytes, pe, stream);
}
inline void get_nbi_on_stream(const char* name, void* dest, const void* source, size_t bytes, int pe, Stream stream) {
  get_on_stream(name, dest, source, bytes, pe, stream);
}

template <class T>
void p_on_stream(const char* name, T* dest, T value, int pe, Stream stream) {
  guard(name, [&] {
    const DeviceWorld& world = check_remote(name, "dest", dest, sizeof(T), pe);
    check_alignment(name, "dest", dest, sizeof(T));
    machine::launch(PKernel<T>{world, dest, value, pe}, 1, 1, stream);
  });
}
template <class T>
T g_on_stream(const char* name, const T* source, int pe, Stream stream) {
  T value{};
  guard(name, [&] {
    const DeviceWorld& world = check_remote(name, "source", source, sizeof(T), pe);
    check_alignment(name, "source", source, sizeof(T));
    machine_host::copy_on_stream(&value, at(world, source, pe), sizeof(T), stream);
    machine_host::synchronize(stream);
  });
  return value;
}

inline void signal_op_on_stream(const char* name, uint64_t* word, uint64_t value, int operation, int pe,
                                Stream stream) {
  guard(name, [&] {
    const DeviceWorld& world = check_signal(name, word, operation, pe);
    machine::launch(SignalKernel{world, word, value, operation, pe, false}, 1, 1, stream);
  });
}
inline void put_signal_on_stream(const char* name, void* dest, const void* source, size_t bytes, uint64_t* word,
                                 uint64_t value, int operation, int pe, Stream stream) {
  guard(name, [&] {
    check_signal(name, word, operation, pe);
    const DeviceWorld& world = check_remote(name, "dest", dest, bytes, pe);
    machine_host::copy_on_stream(at(world, dest, pe), source, bytes, stream);
    machine::launch(SignalKernel{world, word, value, operation, pe, true}, 1, 1, stream);
  });
}
inline void put_signal_nbi_on_stream(const char* name, void* dest, const void* source, size_t bytes, uint64_t* word,
                                     uint64_t value, int operation, int pe, Stream stream) {
  put_signal_on_stream(name, dest, source, bytes, word, value, operation, pe, stream);
}

template <class T>
void wait_until_on_stream(const char* name, T* variable, int comparison, T value, Stream stream) {
  guard(name, [&] {
    const DeviceWorld& world = check_wait(name, variable, sizeof(T), comparison);
    machine::launch(WaitKernel<T>{world, variable, comparison, value}, 1, 1, stream);
  });
}
inline void signal_wait_until_on_stream(const char* name, uint64_t* word, int comparison, uint64_t value,
                                        Stream stream) {
  wait_until_on_stream(name, word, comparison, value, stream);
}

inline void quiet_on_stream(const char* name, Stream stream) {
  guard(name, [&] {
    machine::launch(QuietKernel{bound_world(name)}, 1, 1, stream);
    check_faults(name);
  });
}

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
  return guard(name, [&] {
    const DeviceWorld& world = check_collective(name, team, dest, bytes, source, bytes);
    check_root(name, team, root);
    machine::launch(BroadcastKernel{world, team, dest, source, bytes, root}, 1, machine::kStreamThreads, stream);
    check_faults(name);
  });
}
inline int fcollect_on_stream(const char* name, int team, void* dest, const void* source, size_t bytes, Stream stream) {
  return guard(name, [&] {
    const DeviceWorld& world = check_collective(name, team, dest, bytes * size_t(team_size(name, team)), source, bytes);
    machine::launch(FcollectKernel{world, team, dest, source, bytes}, 1, machine::kStreamThreads, stream);
    check_faults(name);
  });
}
template <class T>
int sum_reduce_on_stream(const char* name, int team, T* dest, const T* source, size_t count, Stream stream) {
  return guard(name, [&] {
    const DeviceWorld& world = check_collective(name, team, dest, count * sizeof(T), source, count * sizeof(T));
    check_alignment(name, "dest", dest, sizeof(T));
    check_alignment(name, "source", source, sizeof(T));
    machine::launch(SumKernel<T>{world, team, dest, source, count}, 1, machine::kStreamThreads, stream);
    check_faults(name);
  });
}

}  // namespace causeway::host
