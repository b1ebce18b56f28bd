// See host/check.hpp.
#include <causeway/api/host/check.hpp>
#include <causeway/base/error.hpp>
#include <causeway/view/heap_view.hpp>
#include <causeway/host/machine_host.hpp>
#include <causeway/runtime/pe_state.hpp>
#include <causeway/runtime/world.hpp>
#include <causeway/signal/comparison.hpp>

#include <cstdint>
#include <set>

namespace causeway::host {
namespace {

void check_symmetric(World& world, const char* argument, const void* address, size_t bytes) {
  if (bytes == 0) return;
  const uint64_t offset = heap_offset(world.device_world(), address), mapped = world.heap().bytes();
  if (offset <= mapped && bytes <= mapped - offset) return;
  fail(Status::invalid_value, "{} is {} ({} bytes): must lie in the caller's symmetric heap, {} to {}", argument,
       address, bytes, static_cast<void*>(world.heap().own()), static_cast<void*>(world.heap().own() + mapped));
}

void check_pe(World& world, int pe) {
  if (pe < 0 || pe >= world.pes()) fail(Status::invalid_value, "pe is {}: must be 0 to {}", pe, world.pes() - 1);
}

/// Memory of the caller outside of all heaps: operations with the caller itself take it (see api/check.hpp).
bool own_memory(World& world, const void* address, int pe) {
  return pe == world.pe() && address && !in_heap_space(world.device_world(), address);
}

const TeamView& find_team(World& world, int team) {
  const TeamView* view = world.teams().find(team);
  if (!view) fail(Status::invalid_value, "team is {}: must be a team that the caller is a member of", team);
  return *view;
}

}  // namespace

const DeviceWorld& bound_world(const char* call) {
  World& world = world_of(call);
  world.bind();
  return world.device_world();
}

const DeviceWorld& check_remote(const char* call, const char* argument, const void* address, size_t bytes, int pe) {
  World& world = world_of(call);
  world.require_bound(call);
  check_pe(world, pe);
  if (!own_memory(world, address, pe)) check_symmetric(world, argument, address, bytes);
  return world.device_world();
}

const DeviceWorld& check_remote_by_kernel(const char* call, const char* argument, const void* address, size_t bytes,
                                          int pe) {
  const DeviceWorld& world = check_remote(call, argument, address, bytes, pe);
  if (own_memory(world_of(call), address, pe)) check_device_memory(call, argument, address);
  return world;
}

void check_alignment(const char*, const char* argument, const void* address, size_t alignment) {
  if (reinterpret_cast<uint64_t>(address) % alignment != 0)
    fail(Status::invalid_value, "{} is {}: must be a multiple of the element's size {}", argument, address, alignment);
}

const DeviceWorld& check_signal(const char* call, const uint64_t* word, int operation, int pe) {
  const DeviceWorld& world = check_remote_by_kernel(call, "sig_addr", word, sizeof *word, pe);
  check_alignment(call, "sig_addr", word, sizeof *word);
  if (operation != signal_set && operation != signal_add)
    fail(Status::invalid_value, "sig_op is {}: must be NVSHMEM_SIGNAL_SET (9) or NVSHMEM_SIGNAL_ADD (10)", operation);
  return world;
}

const DeviceWorld& check_waits(const char* call, const void* variables, size_t count, size_t bytes, int comparison) {
  World& world = world_of(call);
  world.require_bound(call);
  check_symmetric(world, "ivar", variables, count * bytes);
  check_alignment(call, "ivar", variables, bytes);
  if (comparison < cmp_eq || comparison > cmp_ge)
    fail(Status::invalid_value, "cmp is {}: must be one of NVSHMEM_CMP_* (0 to 5)", comparison);
  return world.device_world();
}

const DeviceWorld& check_wait(const char* call, const void* variable, size_t bytes, int comparison) {
  return check_waits(call, variable, 1, bytes, comparison);
}

const DeviceWorld& check_team(const char* call, int team) {
  const DeviceWorld& device_world = bound_world(call);
  find_team(world_of(call), team);
  return device_world;
}

int team_number(const char* call, int team) {
  check_team(call, team);
  return find_team(world_of(call), team).pe;
}

int team_size(const char* call, int team) {
  check_team(call, team);
  return find_team(world_of(call), team).pes;
}

const DeviceWorld& check_strided(const char* call, const char* argument, const void* address, ptrdiff_t stride,
                                 size_t elements, size_t size, bool any_place) {
  World& world = world_of(call);
  world.require_bound(call);
  if (elements == 0) return world.device_world();
  ptrdiff_t last = 0;
  if (elements > size_t(PTRDIFF_MAX) || __builtin_mul_overflow(ptrdiff_t(elements), ptrdiff_t(size), &last) ||
      __builtin_mul_overflow(last, stride, &last))
    fail(Status::invalid_value, "{}: {} elements of {} bytes that lie {} apart are more than there are addresses",
         argument, elements, size, stride);
  last = ptrdiff_t((elements - 1) * size) * stride;
  const char* first = static_cast<const char*>(address) + (last < 0 ? last : 0);
  if (!any_place) check_symmetric(world, argument, first, size_t(last < 0 ? -last : last) + size);
  return world.device_world();
}

const DeviceWorld& check_remote_strided(const char* call, const char* argument, const void* address, ptrdiff_t stride,
                                        size_t elements, size_t size, int pe) {
  World& world = world_of(call);
  world.require_bound(call);
  check_pe(world, pe);
  return check_strided(call, argument, address, stride, elements, size, own_memory(world, address, pe));
}

void check_device_memory(const char*, const char* argument, const void* address) {
  if (address && !machine_host::device_reaches(address))
    fail(Status::invalid_value, "{} is {}: must be memory that the device can reach (its own, pinned or registered)",
         argument, address);
}

void check_places(const char* call, const void* dest, size_t dest_bytes, const void* source, size_t source_bytes) {
  World& world = world_of(call);
  check_symmetric(world, "dest", dest, dest_bytes);
  check_symmetric(world, "source", source, source_bytes);
}

void check_apart(const char* call, const void* dest, size_t dest_bytes, const void* source, size_t source_bytes,
                 bool in_place) {
  check_places(call, dest, dest_bytes, source, source_bytes);
  const auto to = reinterpret_cast<uint64_t>(dest), from = reinterpret_cast<uint64_t>(source);
  if (dest_bytes == 0 || source_bytes == 0 || (in_place && to == from)) return;
  if (to < from + source_bytes && from < to + dest_bytes)
    fail(Status::invalid_value, "dest {} and source {} overlap: they must {}not overlap", dest, source,
         in_place ? "be the same or " : "");
}

void check_root(const char* call, int team, int root) {
  if (root < 0 || root >= team_size(call, team))
    fail(Status::invalid_value, "PE_root is {}: must be a member's number in the team, 0 to {}", root,
         team_size(call, team) - 1);
}

void check_bound(const char* call) { world_of(call).require_bound(call); }

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

}  // namespace causeway::host
