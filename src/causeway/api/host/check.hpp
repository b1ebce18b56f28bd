// Checks of host and stream calls: always on. Each throws an Error that names the argument, its value and what is accepted.
#pragma once
#include <causeway/view/device_world.hpp>
#include <causeway/team/members.hpp>

#include <cstddef>
#include <cstdint>

namespace causeway::host {

/// The caller's world on the device, which collective calls bind at their first use.
const DeviceWorld& bound_world(const char* call);
/// [address, address + bytes) must lie in the caller's heap, and `pe` be a PE of the job. Where it is the caller itself, any memory
/// of its device will do, since nothing is translated (programs count on it).
const DeviceWorld& check_remote(const char* call, const char* argument, const void* address, size_t bytes, int pe);
/// The same for an operation that a kernel does: then own memory must be memory that the device can reach.
const DeviceWorld& check_remote_by_kernel(const char* call, const char* argument, const void* address, size_t bytes,
                                          int pe);
const DeviceWorld& check_signal(const char* call, const uint64_t* word, int operation, int pe);
const DeviceWorld& check_wait(const char* call, const void* variable, size_t bytes, int comparison);
const DeviceWorld& check_waits(const char* call, const void* variables, size_t count, size_t bytes, int comparison);
/// Every `stride`-th of `elements` elements of `size` bytes from `address` on must lie in the caller's heap, unless any place will
/// do.
const DeviceWorld& check_strided(const char* call, const char* argument, const void* address, ptrdiff_t stride,
                                 size_t elements, size_t size, bool any_place = false);
/// The same at a PE (see check_remote).
const DeviceWorld& check_remote_strided(const char* call, const char* argument, const void* address, ptrdiff_t stride,
                                        size_t elements, size_t size, int pe);
/// Local memory that the device is to use must be memory that it can reach.
void check_device_memory(const char* call, const char* argument, const void* address);
const DeviceWorld& check_team(const char* call, int team);
void check_places(const char* call, const void* dest, size_t dest_bytes, const void* source, size_t source_bytes);
/// The same, where dest and source may be equal but not overlap otherwise, or (`in_place` false) not at all.
void check_apart(const char* call, const void* dest, size_t dest_bytes, const void* source, size_t source_bytes,
                 bool in_place);
void check_root(const char* call, int team, int root);
void check_alignment(const char* call, const char* argument, const void* address, size_t alignment);
/// Number of PEs of a team that has been checked.
int team_size(const char* call, int team);
/// The caller's number in it.
int team_number(const char* call, int team);
/// Throws if the caller is not initialised or nothing has bound a device yet.
void check_bound(const char* call);
/// The same, or the first fault that device code has left.
void check_faults(const char* call);
/// The same, of a record that is not the job's.
void check_faults(const char* call, FaultRecord*);

/// The caller's world PE, and how many there are; -1 before init.
int own_pe();
int all_pes();
/// PEs of a node, if all nodes of the job hold as many, which are consecutive; else, and before init, 0.
int even_node_pes();
/// Empty if there is no such team. Before a device is bound the predefined ones are known: programs choose by them.
Members known_members(int team);
/// The address of `local` at `pe`, or null if it is no symmetric address or there is no such PE.
void* reachable(const void* local, int pe);

}  // namespace causeway::host
