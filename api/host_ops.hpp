// Host calls of the CUDA machine: data by the copy engine, updates and collectives by kernels, all on the library's own
// stream, so that they keep their order and wait for no stream of the program. (The CPU machine's host runs device code.)
#pragma once
#include <causeway/api/stream_ops.hpp>
#include <causeway/api/types.h>

#include <chrono>
#include <cstdint>
#include <cstring>
#include <thread>

namespace causeway::host {

/// The library's own stream. Throws where there is none yet: before init, or before anything has bound a device.
inline Stream own(const char* name) {
  check_bound(name);
  return machine_host::private_stream();
}

// ---------------------------------------------------------------- data movement

template <class T>
void p(const char* name, T* dest, T value, int pe) {
  // (The driver copies a small source before it returns.)
  guard(name, [&] {
    check_alignment(name, "dest", dest, sizeof(T));
    put_on_stream(name, dest, &value, sizeof value, pe, own(name));
  });
}
template <class T>
T g(const char* name, const T* source, int pe) {
  T value{};
  guard(name, [&] { value = g_on_stream(name, source, pe, own(name)); });
  return value;
}
inline void put_nbi(const char* name, void* dest, const void* source, size_t bytes, int pe) {
  guard(name, [&] { put_on_stream(name, dest, source, bytes, pe, own(name)); });
}
inline void get_nbi(const char* name, void* dest, const void* source, size_t bytes, int pe) {
  guard(name, [&] { get_on_stream(name, dest, source, bytes, pe, own(name)); });
}
inline void quiet(const char* name) {
  guard(name, [&] {
    check_faults(name);
    machine_host::synchronize(own(name));
    check_faults(name);
  });
}
inline void put(const char* name, void* dest, const void* source, size_t bytes, int pe) {
  put_nbi(name, dest, source, bytes, pe);
  quiet(name);
}
inline void get(const char* name, void* dest, const void* source, size_t bytes, int pe) {
  get_nbi(name, dest, source, bytes, pe);
  quiet(name);
}
/// Host operations run in the order of one stream.
inline void fence(const char*) {}

// ---------------------------------------------------------------- signals and waits

inline void put_signal_nbi(const char* name, void* dest, const void* source, size_t bytes, uint64_t* word,
                           uint64_t value, int operation, int pe) {
  guard(name, [&] { put_signal_on_stream(name, dest, source, bytes, word, value, operation, pe, own(name)); });
}
inline void put_signal(const char* name, void* dest, const void* source, size_t bytes, uint64_t* word, uint64_t value,
                       int operation, int pe) {
  put_signal_nbi(name, dest, source, bytes, word, value, operation, pe);
  quiet(name);
}
inline void signal_op(const char* name, uint64_t* word, uint64_t value, int operation, int pe) {
  guard(name, [&] { signal_op_on_stream(name, word, value, operation, pe, own(name)); });
}

template <class T>
T read_own(const T* variable) {
  T value{};
  machine_host::copy(&value, variable, sizeof value);
  return value;
}
/// Polls by copies: the writer's device may be this one, busy with kernels.
template <class T>
T poll_until(const char* name, T* variable, int comparison, T value) {
  T seen{};
  guard(name, [&] {
    const DeviceWorld& world = check_wait(name, variable, sizeof(T), comparison);
    const auto start = std::chrono::steady_clock::now();
    bool reported = false;
    while (!compare(seen = read_own(variable), comparison, value)) {
      const auto waited = uint64_t(std::chrono::nanoseconds(std::chrono::steady_clock::now() - start).count());
      const auto text = [&] {
        return fmt::format("wait for {} at heap offset {:#x} (seen {})", value, heap_offset(world, variable), seen);
      };
      if (world.wait_timeout_ns && waited > world.wait_timeout_ns) fail(Status::internal, "gave up the {}", text());
      if (!reported && world.wait_report_ns && waited > world.wait_report_ns) {
        std::fprintf(stderr, "causeway: PE %d: %s: long %s\n", world.pe, name, text().c_str());
        reported = true;
      }
      std::this_thread::yield();
    }
  });
  return seen;
}
template <class T>
void wait_until(const char* name, T* variable, int comparison, T value) {
  poll_until(name, variable, comparison, value);
}
template <class T>
int test(const char* name, T* variable, int comparison, T value) {
  bool holds = false;
  guard(name, [&] {
    check_wait(name, variable, sizeof(T), comparison);
    holds = compare(read_own(variable), comparison, value);
  });
  return holds;
}
inline uint64_t signal_wait_until(const char* name, uint64_t* word, int comparison, uint64_t value) {
  return poll_until(name, word, comparison, value);
}
inline uint64_t signal_fetch(const char* name, uint64_t* word) {
  uint64_t value = 0;
  guard(name, [&] {
    check_wait(name, word, sizeof *word, 0);
    value = read_own(word);
  });
  return value;
}

// ---------------------------------------------------------------- meeting and collectives, in the team's host channel

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
  return guard(name, [&] {
    const DeviceWorld& world = check_collective(name, team, dest, bytes, source, bytes);
    check_root(name, team, root);
    machine::launch(BroadcastKernel{world, world.teams_max + team, dest, source, bytes, root}, 1,
                    machine::kStreamThreads, own(name));
    machine_host::synchronize(own(name));
  });
}
inline int fcollect(const char* name, int team, void* dest, const void* source, size_t bytes) {
  return guard(name, [&] {
    const DeviceWorld& world = check_collective(name, team, dest, bytes * size_t(team_size(name, team)), source, bytes);
    machine_host::fcollect(world, name, team, dest, source, bytes);
  });
}
template <class T>
int sum_reduce(const char* name, int team, T* dest, const T* source, size_t count) {
  return guard(name, [&] {
    const DeviceWorld& world = check_collective(name, team, dest, count * sizeof(T), source, count * sizeof(T));
    check_alignment(name, "dest", dest, sizeof(T));
    check_alignment(name, "source", source, sizeof(T));
    machine::launch(SumKernel<T>{world, world.teams_max + team, dest, source, count}, 1, machine::kStreamThreads,
                    own(name));
    machine_host::synchronize(own(name));
  });
}

// ---------------------------------------------------------------- queries

inline int my_pe(const char*) { return own_pe(); }
inline int n_pes(const char*) { return all_pes(); }
inline void* ptr(const char*, const void* dest, int pe) { return reachable(dest, pe); }

inline int team_my_pe(const char*, int team) {
  const StridedSet set = known_set(team);
  return set.size > 0 ? set.member_of(own_pe()) : -1;
}
inline int team_n_pes(const char*, int team) {
  const StridedSet set = known_set(team);
  return set.size > 0 ? set.size : -1;
}
inline int team_translate_pe(const char*, int from, int pe, int to) {
  const StridedSet source = known_set(from), dest = known_set(to);
  if (source.size == 0 || dest.size == 0 || pe < 0 || pe >= source.size) return -1;
  return dest.member_of(source.pe(pe));
}

inline void info_get_version(const char*, int* major, int* minor) {
  *major = NVSHMEM_MAJOR_VERSION;
  *minor = NVSHMEM_MINOR_VERSION;
}
inline void info_get_name(const char*, char* name) { std::strcpy(name, NVSHMEM_VENDOR_STRING); }
inline void vendor_version(const char*, int* major, int* minor, int* patch) {
  *major = NVSHMEM_VENDOR_MAJOR_VERSION;
  *minor = NVSHMEM_VENDOR_MINOR_VERSION;
  *patch = NVSHMEM_VENDOR_PATCH_VERSION;
}

}  // namespace causeway::host
