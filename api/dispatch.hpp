// What the generated one-liners of the C API forward to on the device (and, on the CPU machine, on the host): finds the
// unit's world, checks, and calls the operation with the group as an argument.
#pragma once
#include <causeway/api/check.hpp>
#include <causeway/api/types.h>
#include <causeway/coll/coll.hpp>
#include <causeway/runtime/unit.hpp>
#include <causeway/signal/signal.hpp>

#include <cstdint>

namespace causeway::api {

constexpr const char* kDestSymmetric = "dest must lie in the caller's symmetric heap (offset, heap bytes)";
constexpr const char* kSourceSymmetric = "source must lie in the caller's symmetric heap (offset, heap bytes)";
constexpr const char* kSignalSymmetric = "sig_addr must lie in the caller's symmetric heap (offset, heap bytes)";
constexpr const char* kDestAligned = "dest must be a multiple of the element's size (address, size)";
constexpr const char* kSourceAligned = "source must be a multiple of the element's size (address, size)";
constexpr const char* kSignalAligned = "sig_addr must be a multiple of the element's size (address, size)";
constexpr const char* kVariableAligned = "ivar must be a multiple of the element's size (address, size)";
constexpr const char* kVariableSymmetric = "ivar must lie in the caller's symmetric heap (offset, heap bytes)";

// ---------------------------------------------------------------- data movement

template <class T>
CAUSEWAY_DEVICE void p(const char* name, Thread, T* dest, T value, int pe) {
  const DeviceWorld& world = unit::world();
  if (!check_pe(world, name, pe) || !check_symmetric(world, name, kDestSymmetric, dest, sizeof(T)) ||
      !check_aligned(world, name, kDestAligned, dest))
    return;
  causeway::p(world, dest, value, pe);
}

template <class T>
CAUSEWAY_DEVICE T g(const char* name, Thread, const T* source, int pe) {
  const DeviceWorld& world = unit::world();
  if (!check_pe(world, name, pe) || !check_symmetric(world, name, kSourceSymmetric, source, sizeof(T)) ||
      !check_aligned(world, name, kSourceAligned, source))
    return T{};
  return causeway::g(world, source, pe);
}

template <class Group>
CAUSEWAY_DEVICE void put(const char* name, Group group, void* dest, const void* source, size_t bytes, int pe) {
  const DeviceWorld& world = unit::world();
  if (!check_pe(world, name, pe) || !check_symmetric(world, name, kDestSymmetric, dest, bytes)) return;
  causeway::put(world, group, dest, source, bytes, pe);
}

template <class Group>
CAUSEWAY_DEVICE void get(const char* name, Group group, void* dest, const void* source, size_t bytes, int pe) {
  const DeviceWorld& world = unit::world();
  if (!check_pe(world, name, pe) || !check_symmetric(world, name, kSourceSymmetric, source, bytes)) return;
  causeway::get(world, group, dest, source, bytes, pe);
}

// A copy by load and store has read its source when it returns: the non-blocking forms have nothing left to start.
template <class Group>
CAUSEWAY_DEVICE void put_nbi(const char* name, Group group, void* dest, const void* source, size_t bytes, int pe) {
  put(name, group, dest, source, bytes, pe);
}
template <class Group>
CAUSEWAY_DEVICE void get_nbi(const char* name, Group group, void* dest, const void* source, size_t bytes, int pe) {
  get(name, group, dest, source, bytes, pe);
}

// ---------------------------------------------------------------- signals and waits

CAUSEWAY_DEVICE bool check_signal(const DeviceWorld& world, const char* name, uint64_t* word, int operation, int pe) {
  return check_pe(world, name, pe) && check_symmetric(world, name, kSignalSymmetric, word, sizeof *word) &&
         check_aligned(world, name, kSignalAligned, word) &&
         check_range(world, name, "sig_op must be NVSHMEM_SIGNAL_SET (9) or NVSHMEM_SIGNAL_ADD (10)", operation,
                     signal_set, signal_add);
}

template <class Group>
CAUSEWAY_DEVICE void put_signal(const char* name, Group group, void* dest, const void* source, size_t bytes,
                                uint64_t* word, uint64_t value, int operation, int pe) {
  const DeviceWorld& world = unit::world();
  if (!check_signal(world, name, word, operation, pe) || !check_symmetric(world, name, kDestSymmetric, dest, bytes))
    return;
  causeway::put_signal(world, group, dest, source, bytes, word, value, operation, pe);
}

template <class Group>
CAUSEWAY_DEVICE void put_signal_nbi(const char* name, Group group, void* dest, const void* source, size_t bytes,
                                    uint64_t* word, uint64_t value, int operation, int pe) {
  put_signal(name, group, dest, source, bytes, word, value, operation, pe);
}

CAUSEWAY_DEVICE void signal_op(const char* name, Thread, uint64_t* word, uint64_t value, int operation, int pe) {
  const DeviceWorld& world = unit::world();
  if (check_signal(world, name, word, operation, pe)) causeway::signal_op(world, word, value, operation, pe);
}

template <class T>
CAUSEWAY_DEVICE bool check_wait(const DeviceWorld& world, const char* name, const T* variable, int comparison) {
  return check_symmetric(world, name, kVariableSymmetric, variable, sizeof(T)) &&
         check_aligned(world, name, kVariableAligned, variable) &&
         check_range(world, name, "cmp must be one of NVSHMEM_CMP_* (0 to 5)", comparison, cmp_eq, cmp_ge);
}

template <class T>
CAUSEWAY_DEVICE void wait_until(const char* name, Thread, T* variable, int comparison, T value) {
  const DeviceWorld& world = unit::world();
  if (check_wait(world, name, variable, comparison)) causeway::wait_until(world, name, variable, comparison, value);
}

template <class T>
CAUSEWAY_DEVICE int test(const char* name, Thread, T* variable, int comparison, T value) {
  return check_wait(unit::world(), name, variable, comparison) && causeway::test(variable, comparison, value);
}

CAUSEWAY_DEVICE uint64_t signal_wait_until(const char* name, Thread, uint64_t* word, int comparison, uint64_t value) {
  const DeviceWorld& world = unit::world();
  if (!check_wait(world, name, word, comparison)) return 0;
  return causeway::wait_until(world, name, word, comparison, value);
}

CAUSEWAY_DEVICE uint64_t signal_fetch(const char* name, Thread, uint64_t* word) {
  if (!check_wait(unit::world(), name, word, cmp_eq)) return 0;
  return machine::load_acquire_sys(word);
}

// ---------------------------------------------------------------- order

CAUSEWAY_DEVICE void fence(const char*, Thread) { causeway::fence(unit::world()); }
CAUSEWAY_DEVICE void quiet(const char*, Thread) { causeway::quiet(unit::world()); }

template <class Group>
CAUSEWAY_DEVICE int barrier(const char* name, Group group, nvshmem_team_t team) {
  const DeviceWorld& world = unit::world();
  const TeamView* view = find_team(world, name, team);
  if (!view) return NVSHMEMX_ERROR_INVALID_VALUE;
  causeway::barrier(world, name, group, *view);
  return NVSHMEMX_SUCCESS;
}
template <class Group>
CAUSEWAY_DEVICE int team_sync(const char* name, Group group, nvshmem_team_t team) {
  const DeviceWorld& world = unit::world();
  const TeamView* view = find_team(world, name, team);
  if (!view) return NVSHMEMX_ERROR_INVALID_VALUE;
  causeway::sync(world, name, group, *view);
  return NVSHMEMX_SUCCESS;
}
template <class Group>
CAUSEWAY_DEVICE void barrier_all(const char* name, Group group) {
  barrier(name, group, NVSHMEM_TEAM_WORLD);
}
template <class Group>
CAUSEWAY_DEVICE void sync_all(const char* name, Group group) {
  team_sync(name, group, NVSHMEM_TEAM_WORLD);
}

// ---------------------------------------------------------------- queries

CAUSEWAY_DEVICE int my_pe(const char*, Thread) { return unit::world().pe; }
CAUSEWAY_DEVICE int n_pes(const char*, Thread) { return unit::world().pes > 0 ? unit::world().pes : -1; }

CAUSEWAY_DEVICE void* ptr(const char*, Thread, const void* dest, int pe) {
  const DeviceWorld& world = unit::world();
  if (pe < 0 || pe >= world.pes || !in_heap(world, dest, 1)) return nullptr;
  return at(world, static_cast<char*>(const_cast<void*>(dest)), pe);
}

CAUSEWAY_DEVICE const TeamView* known_team(const DeviceWorld& world, nvshmem_team_t team) {
  return team >= 0 && team < world.teams_max && world.teams[team].pe >= 0 ? &world.teams[team] : nullptr;
}
CAUSEWAY_DEVICE int team_my_pe(const char*, Thread, nvshmem_team_t team) {
  const TeamView* view = known_team(unit::world(), team);
  return view ? view->pe : -1;
}
CAUSEWAY_DEVICE int team_n_pes(const char*, Thread, nvshmem_team_t team) {
  const TeamView* view = known_team(unit::world(), team);
  return view ? view->pes : -1;
}
CAUSEWAY_DEVICE int team_translate_pe(const char*, Thread, nvshmem_team_t from, int pe, nvshmem_team_t to) {
  const TeamView *source = known_team(unit::world(), from), *dest = known_team(unit::world(), to);
  if (!source || !dest || pe < 0 || pe >= source->pes) return -1;
  return member_of(*dest, world_pe(*source, pe));
}

CAUSEWAY_DEVICE void info_get_version(const char*, Thread, int* major, int* minor) {
  *major = NVSHMEM_MAJOR_VERSION;
  *minor = NVSHMEM_MINOR_VERSION;
}
CAUSEWAY_DEVICE void info_get_name(const char*, Thread, char* name) {
  const char text[] = NVSHMEM_VENDOR_STRING;
  for (unsigned i = 0; i < sizeof text; ++i) name[i] = text[i];
}
CAUSEWAY_DEVICE void vendor_version(const char*, Thread, int* major, int* minor, int* patch) {
  *major = NVSHMEM_VENDOR_MAJOR_VERSION;
  *minor = NVSHMEM_VENDOR_MINOR_VERSION;
  *patch = NVSHMEM_VENDOR_PATCH_VERSION;
}

// ---------------------------------------------------------------- collectives

/// Checks what all collectives share; null: misuse, reported.
CAUSEWAY_DEVICE const TeamView* check_collective(const DeviceWorld& world, const char* name, nvshmem_team_t team,
                                                 const void* dest, size_t dest_bytes, const void* source,
                                                 size_t source_bytes) {
  const TeamView* view = find_team(world, name, team);
  if (!view || !check_symmetric(world, name, kDestSymmetric, dest, dest_bytes) ||
      !check_symmetric(world, name, kSourceSymmetric, source, source_bytes))
    return nullptr;
  return view;
}

template <class Group>
CAUSEWAY_DEVICE int broadcast(const char* name, Group group, nvshmem_team_t team, void* dest, const void* source,
                              size_t bytes, int root) {
  const DeviceWorld& world = unit::world();
  const TeamView* view = check_collective(world, name, team, dest, bytes, source, bytes);
  if (!view || !check_range(world, name, "PE_root must be a member's number in the team", root, 0, view->pes - 1))
    return NVSHMEMX_ERROR_INVALID_VALUE;
  causeway::broadcast(world, name, group, *view, dest, source, bytes, root);
  return NVSHMEMX_SUCCESS;
}

template <class Group>
CAUSEWAY_DEVICE int fcollect(const char* name, Group group, nvshmem_team_t team, void* dest, const void* source,
                             size_t bytes) {
  const DeviceWorld& world = unit::world();
  const TeamView* known = find_team(world, name, team);
  if (!known || !check_collective(world, name, team, dest, bytes * known->pes, source, bytes))
    return NVSHMEMX_ERROR_INVALID_VALUE;
  causeway::fcollect(world, name, group, *known, dest, source, bytes);
  return NVSHMEMX_SUCCESS;
}

template <class T, class Group>
CAUSEWAY_DEVICE int sum_reduce(const char* name, Group group, nvshmem_team_t team, T* dest, const T* source,
                               size_t count) {
  const DeviceWorld& world = unit::world();
  const TeamView* view = check_collective(world, name, team, dest, count * sizeof(T), source, count * sizeof(T));
  if (!view || !check_aligned(world, name, kDestAligned, dest) || !check_aligned(world, name, kSourceAligned, source))
    return NVSHMEMX_ERROR_INVALID_VALUE;
  causeway::reduce<Sum>(world, name, group, *view, dest, source, count);
  return NVSHMEMX_SUCCESS;
}

}  // namespace causeway::api
