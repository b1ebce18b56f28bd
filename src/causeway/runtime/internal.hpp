// A job as the library's own parts on the host see it: what is known without asking the device, and symmetric memory
// and teams, as the C interface gives them behind its edge. All throw an Error; `call` is who asks, as errors name it.
// Read as C++17, too.
#pragma once
#include <causeway/team/config.hpp>
#include <causeway/team/members.hpp>
#include <causeway/view/device_world.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

namespace causeway {

/// The caller's world, as hosts see it.
struct HostView {
  const DeviceWorld& world;
  uint64_t mapped;  // bytes of the caller's heap

  /// Throws where the caller is not initialised, or nothing has bound a device yet.
  static HostView bound(const char* call);
  /// Binds the current device if nothing has (a collective call).
  static HostView binding(const char* call);
  /// The caller's record of the team; throws if there is none.
  static const TeamView& team(const char* call, int team);
};

namespace host {

/// Throws the first fault that device code has left, if there is one; in the job's record or another.
void check_faults(const char* call);
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

/// Collective over the world: a block that every PE has when the call returns; null for 0 bytes. `site`: where the
/// caller stands, for errors and for what is never freed. `problem`: what is wrong with the caller's other arguments,
/// which then all PEs throw.
void* allocate_symmetric(const char* call, size_t bytes, size_t alignment, bool zeroed, const std::string& site,
                         const std::string& problem = {});
/// Collective over the world: waits for the device, whose kernels may still use the block. Null is no block.
void free_symmetric(const char* call, void* block, const std::string& site);

/// Collective over the parent: rows of `xrange` members, and columns. `wrong`: what is wrong with the caller's other
/// arguments, which the others then learn.
TeamPair split_2d(const char* call, int parent, int xrange, const TeamConfig& x = {}, const TeamConfig& y = {},
                  const std::string& wrong = {});
/// Collective over the team; -1 is none.
void destroy_team(const char* call, int team);

/// Can kernels use this address?
bool device_reaches(const void* address);

}  // namespace host

}  // namespace causeway
