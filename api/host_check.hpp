// Checks of host and stream calls: always on. Each throws an Error that names the argument, its value and what is accepted.
#pragma once
#include <causeway/runtime/world.hpp>

#include <cstddef>
#include <cstdint>

namespace causeway::host {

/// The caller's world on the device, which collective calls bind at their first use.
const DeviceWorld& bound_world(const char* call);
/// `address` must be [address, address + bytes) of the caller's heap and `pe` a PE of the job.
const DeviceWorld& check_remote(const char* call, const char* argument, const void* address, size_t bytes, int pe);
const DeviceWorld& check_signal(const char* call, const uint64_t* word, int operation, int pe);
const DeviceWorld& check_wait(const char* call, const void* variable, size_t bytes, int comparison);
const DeviceWorld& check_team(const char* call, int team);
const DeviceWorld& check_collective(const char* call, int team, const void* dest, size_t dest_bytes, const void* source,
                                    size_t source_bytes);
void check_root(const char* call, int team, int root);
void check_alignment(const char* call, const char* argument, const void* address, size_t alignment);
/// Number of PEs of a team that has been checked.
int team_size(const char* call, int team);

}  // namespace causeway::host
