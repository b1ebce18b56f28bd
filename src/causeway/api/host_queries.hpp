// Functions that ask, of the host of a CUDA program: it knows without the device.
#pragma once
#include <causeway/runtime/internal.hpp>
#include <causeway/api/types.h>

#include <cstring>

namespace causeway::host {

inline int my_pe(const char*) { return own_pe(); }
inline int n_pes(const char*) { return all_pes(); }
inline void* ptr(const char*, const void* dest, int pe) { return reachable(dest, pe); }

inline int team_my_pe(const char*, int team) { return number_of(known_members(team), own_pe()); }
inline int team_n_pes(const char*, int team) {
  const Members members = known_members(team);
  return members.empty() ? -1 : int(members.size());
}
inline int team_translate_pe(const char*, int from, int pe, int to) {
  const Members source = known_members(from);
  return pe < 0 || pe >= int(source.size()) ? -1 : number_of(known_members(to), source[size_t(pe)]);
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
inline void* mc_ptr(const char*, int, const void*) { return nullptr; }

}  // namespace causeway::host
