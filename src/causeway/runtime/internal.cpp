// What parts of the library take from a job, over World.
#include <causeway/base/error.hpp>
#include <causeway/view/heap_view.hpp>
#include <causeway/runtime/internal.hpp>
#include <causeway/host/machine_host.hpp>
#include <causeway/runtime/pe_state.hpp>
#include <causeway/runtime/world.hpp>

#include <set>

namespace causeway {

HostView HostView::bound(const char* call) {
  World& world = world_of(call);
  world.require_bound(call);
  return {world.device_world(), world.heap().bytes()};
}

HostView HostView::binding(const char* call) {
  world_of(call).bind();
  return bound(call);
}

const TeamView& HostView::team(const char* call, int team) {
  World& world = world_of(call);
  world.require_bound(call);
  const TeamView* view = world.teams().find(team);
  if (!view) fail(Status::invalid_value, "team is {}: must be a team that the caller is a member of", team);
  return *view;
}

namespace host {

bool device_reaches(const void* address) { return machine_host::device_reaches(address); }

void check_faults(const char* call) {
  World& world = world_of(call);
  world.require_bound(call);
  world.check_faults();
}

void check_faults(const char* call, FaultRecord* record) {
  World& world = world_of(call);
  world.require_bound(call);
  world.check_faults(record);
}

int own_pe() {
  const World* world = world_or_null();
  if (!world) say_failed_init();
  return world ? world->pe() : -1;
}
int all_pes() {
  const World* world = world_or_null();
  if (!world) say_failed_init();
  return world ? world->pes() : -1;
}

int even_node_pes() {
  World* world = world_or_null();
  if (!world) return 0;
  const std::vector<int>& node = world->placement().node;
  const std::set<int> nodes(node.begin(), node.end());
  if (nodes.empty() || node.size() % nodes.size() != 0) return 0;
  const size_t here = node.size() / nodes.size();
  for (size_t pe = 0; pe < node.size(); ++pe)
    if (node[pe] != node[pe / here * here]) return 0;
  return int(here);
}

Members known_members(int team) {
  World* world = world_or_null();
  if (!world) return {};
  if (!world->bound()) return predefined_team(world->placement(), world->pe(), team);
  return world->teams().find(team) ? world->teams().members(team) : Members{};
}

void* reachable(const void* local, int pe) {
  World* world = world_or_null();
  if (!world || !world->bound() || pe < 0 || pe >= world->pes()) return nullptr;
  if (heap_offset(world->device_world(), local) >= world->heap().bytes()) return nullptr;
  return at(world->device_world(), static_cast<char*>(const_cast<void*>(local)), pe);
}

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

}  // namespace host

}  // namespace causeway
