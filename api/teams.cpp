// Teams: the C edge.
#include <causeway/api/export.hpp>
#include <causeway/api/guard.hpp>
#include <causeway/api/types.h>
#include <causeway/runtime/machine_host.hpp>
#include <causeway/runtime/pe_state.hpp>
#include <causeway/runtime/world.hpp>

using namespace causeway;

CAUSEWAY_EXPORT int nvshmem_team_split_strided(nvshmem_team_t parent_team, int PE_start, int PE_stride, int PE_size,
                                               const nvshmem_team_config_t* config, long config_mask,
                                               nvshmem_team_t* new_team) {
  return guard("nvshmem_team_split_strided", [&] {
    if (!new_team) fail(Status::invalid_value, "new_team must not be null");
    *new_team = NVSHMEM_TEAM_INVALID;
    World& world = world_of("nvshmem_team_split_strided");
    if (config_mask != 0 && !config)
      fail(Status::invalid_value, "config must not be null with config_mask {:#x}", config_mask);
    if (parent_team == NVSHMEM_TEAM_INVALID) return;  // as the specification has it: no member, nothing to do
    world.bind();
    *new_team = world.teams().split_strided(parent_team, PE_start, PE_stride, PE_size);
  });
}

CAUSEWAY_EXPORT void nvshmem_team_destroy(nvshmem_team_t team) {
  guard("nvshmem_team_destroy", [&] {
    World& world = world_of("nvshmem_team_destroy");
    if (team == NVSHMEM_TEAM_INVALID) return;
    world.require_bound("nvshmem_team_destroy");
    world.teams().destroy(team);
  });
}
