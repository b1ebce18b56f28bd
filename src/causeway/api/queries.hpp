// Functions that ask: of device code (and of hosts that run it).
#pragma once
#include <causeway/api/types.h>
#include <causeway/order/barrier.hpp>
#include <causeway/view/heap_view.hpp>
#include <causeway/view/unit.hpp>

namespace causeway::api {

CAUSEWAY_DEVICE int my_pe(const char*, Thread) { return unit::world().pe; }
CAUSEWAY_DEVICE int n_pes(const char*, Thread) { return unit::world().pes > 0 ? unit::world().pes : -1; }

CAUSEWAY_DEVICE void* ptr(const char*, Thread, const void* dest, int pe) {
  const DeviceWorld& world = unit::world();
  if (pe < 0 || pe >= world.pes || !in_heap(world, dest, 1)) return nullptr;
  return at(world, static_cast<char*>(const_cast<void*>(dest)), pe);
}

/// There is no multicast: it needs NVLink multicast objects, which this library does not make.
CAUSEWAY_DEVICE void* mc_ptr(const char*, Thread, nvshmem_team_t, const void*) { return nullptr; }

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

}  // namespace causeway::api
