// See internal.hpp.
#include <causeway/runtime/internal.hpp>
#include <causeway/host/machine_host.hpp>
#include <causeway/runtime/pe_state.hpp>
#include <causeway/runtime/world.hpp>

namespace causeway::host {

void* allocate_symmetric(const char* call, size_t bytes, size_t alignment, bool zeroed, const std::string& site,
                         const std::string& problem) {
  World& world = world_of(call);
  void* made = world.allocate(bytes, alignment, site, problem);
  if (zeroed) machine_host::zero(made, bytes);
  // Collective calls end with everyone: zeroed memory is zero before any peer can write to it.
  world.bootstrap().barrier(call);
  if (bytes > 0) return made;
  world.free(made, "size 0");
  return nullptr;
}

void free_symmetric(const char* call, void* block, const std::string& site) {
  World& world = world_of(call);
  if (!block) return;
  // Kernels that still use the block must be through before it is given out again.
  machine_host::synchronize_device();
  world.free(block, site);
}

TeamPair split_2d(const char* call, int parent, int xrange, const TeamConfig& x, const TeamConfig& y,
                  const std::string& wrong) {
  World& world = world_of(call);
  world.bind();
  return world.teams().split_2d(parent, xrange, x, y, wrong);
}

void destroy_team(const char* call, int team) {
  World& world = world_of(call);
  if (team == -1) return;
  world.require_bound(call);
  world.teams().destroy(team);
}

}  // namespace causeway::host
