// Teams: the C edge.
#include <causeway/base/export.hpp>
#include <causeway/api/edge.hpp>
#include <causeway/api/types.h>
#include <causeway/host/machine_host.hpp>
#include <causeway/runtime/internal.hpp>
#include <causeway/runtime/pe_state.hpp>
#include <causeway/runtime/world.hpp>

using namespace causeway;

namespace {

constexpr long kKnownMask = NVSHMEM_TEAM_CONFIG_MASK_NUM_CONTEXTS | NVSHMEM_TEAM_CONFIG_MASK_UNIQUEID;

/// What the mask selects of a configuration; what is wrong with it goes to `wrong`.
TeamConfig read_config(const char* argument, const nvshmem_team_config_t* config, long mask, std::string& wrong) {
  TeamConfig read;
  if (mask & ~kKnownMask) {
    wrong = fmt::format("{}_mask is {:#x}: accepted are NVSHMEM_TEAM_CONFIG_MASK_NUM_CONTEXTS (1) and _UNIQUEID (2)",
                        argument, mask);
  } else if (mask != 0 && !config) {
    wrong = fmt::format("{} must not be null with a mask of {:#x}", argument, mask);
  } else if ((mask & NVSHMEM_TEAM_CONFIG_MASK_NUM_CONTEXTS) && config->num_contexts < 0) {
    wrong = fmt::format("{}->num_contexts is {}: must be at least 0", argument, config->num_contexts);
  }
  if (!wrong.empty()) return read;
  if (mask & NVSHMEM_TEAM_CONFIG_MASK_NUM_CONTEXTS) read.contexts = config->num_contexts;
  if (mask & NVSHMEM_TEAM_CONFIG_MASK_UNIQUEID) read.unique_id = config->uniqueid;
  return read;
}

}  // namespace

// A caller with bad arguments takes part all the same, so that the others learn of it instead of waiting. Only who
// hands over NVSHMEM_TEAM_INVALID, as programs do that are no members of the parent, is told by the status alone: it is
// no error to print.

CAUSEWAY_EXPORT int nvshmem_team_split_strided(nvshmem_team_t parent_team, int PE_start, int PE_stride, int PE_size,
                                               const nvshmem_team_config_t* config, long config_mask,
                                               nvshmem_team_t* new_team) {
  bool refused = false;
  const int status = guard("nvshmem_team_split_strided", [&] {
    std::string wrong;
    if (new_team)
      *new_team = NVSHMEM_TEAM_INVALID;
    else
      wrong = "new_team must not be null";
    World& world = world_of("nvshmem_team_split_strided");
    if (parent_team == NVSHMEM_TEAM_INVALID) return void(refused = true);
    const TeamConfig read = read_config("config", config, config_mask, wrong);
    world.bind();
    const int made = world.teams().split_strided(parent_team, PE_start, PE_stride, PE_size, read, wrong);
    if (new_team) *new_team = made;
  });
  return refused ? NVSHMEMX_ERROR_INVALID_VALUE : status;
}

CAUSEWAY_EXPORT int nvshmem_team_split_2d(nvshmem_team_t parent_team, int xrange,
                                          const nvshmem_team_config_t* xaxis_config, long xaxis_mask,
                                          nvshmem_team_t* xaxis_team, const nvshmem_team_config_t* yaxis_config,
                                          long yaxis_mask, nvshmem_team_t* yaxis_team) {
  bool refused = false;
  const int status = guard("nvshmem_team_split_2d", [&] {
    std::string wrong;
    if (xaxis_team) *xaxis_team = NVSHMEM_TEAM_INVALID;
    if (yaxis_team) *yaxis_team = NVSHMEM_TEAM_INVALID;
    if (!xaxis_team || !yaxis_team) wrong = "xaxis_team and yaxis_team must not be null";
    world_of("nvshmem_team_split_2d");  // (throws before init)
    if (parent_team == NVSHMEM_TEAM_INVALID) return void(refused = true);
    const TeamConfig x = read_config("xaxis_config", xaxis_config, xaxis_mask, wrong);
    const TeamConfig y = read_config("yaxis_config", yaxis_config, yaxis_mask, wrong);
    const TeamPair made = host::split_2d("nvshmem_team_split_2d", parent_team, xrange, x, y, wrong);
    *xaxis_team = made.x;
    *yaxis_team = made.y;
  });
  return refused ? NVSHMEMX_ERROR_INVALID_VALUE : status;
}

CAUSEWAY_EXPORT void nvshmem_team_get_config(nvshmem_team_t team, nvshmem_team_config_t* config) {
  guard("nvshmem_team_get_config", [&] {
    World& world = world_of("nvshmem_team_get_config");
    world.require_bound("nvshmem_team_get_config");
    if (!config) fail(Status::invalid_value, "config must not be null");
    if (!world.teams().find(team))
      fail(Status::invalid_value, "team is {}: must be a team that the caller is a member of", team);
    const TeamConfig& kept = world.teams().config(team);
    *config = NVSHMEM_TEAM_CONFIG_INITIALIZER;
    config->num_contexts = kept.contexts;
    config->uniqueid = kept.unique_id;
  });
}

CAUSEWAY_EXPORT int nvshmemx_team_get_uniqueid(nvshmemx_team_uniqueid_t* uniqueid) {
  return guard("nvshmemx_team_get_uniqueid", [&] {
    World& world = world_of("nvshmemx_team_get_uniqueid");
    world.require_bound("nvshmemx_team_get_uniqueid");
    if (!uniqueid) fail(Status::invalid_value, "uniqueid must not be null");
    *uniqueid = world.teams().make_unique_id();
  });
}

CAUSEWAY_EXPORT int nvshmemx_team_init(nvshmem_team_t* team, nvshmem_team_config_t* config, long config_mask, int npes,
                                       int pe_idx_in_team) {
  return guard("nvshmemx_team_init", [&] {
    World& world = world_of("nvshmemx_team_init");
    if (!team) fail(Status::invalid_value, "team must not be null");
    *team = NVSHMEM_TEAM_INVALID;
    std::string wrong;
    const TeamConfig read = read_config("config", config, config_mask, wrong);
    if (!wrong.empty()) fail(Status::invalid_value, "{}", wrong);
    if (!(config_mask & NVSHMEM_TEAM_CONFIG_MASK_UNIQUEID))
      fail(Status::invalid_value,
           "config_mask is {:#x}: must have NVSHMEM_TEAM_CONFIG_MASK_UNIQUEID (2), by whose id the PEs meet",
           config_mask);
    world.require_bound("nvshmemx_team_init");
    *team = world.teams().init(read, npes, pe_idx_in_team);
  });
}

CAUSEWAY_EXPORT void nvshmem_team_destroy(nvshmem_team_t team) {
  guard("nvshmem_team_destroy", [&] { host::destroy_team("nvshmem_team_destroy", team); });
}
