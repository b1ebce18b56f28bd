// Symmetric memory and teams for the library's own parts: what the C interface does behind its edge (api/memory.cpp, api/teams.cpp).
// All throw an Error; `call` is who asks, as errors name it. Read as C++17, too.
#pragma once
#include <causeway/team/config.hpp>

#include <cstddef>
#include <string>

namespace causeway::host {

/// Collective over the world: a block that every PE has when the call returns; null for 0 bytes. `site`: where the caller stands, for
/// errors and for what is never freed. `problem`: what is wrong with the caller's other arguments, which then all PEs throw.
void* allocate_symmetric(const char* call, size_t bytes, size_t alignment, bool zeroed, const std::string& site,
                         const std::string& problem = {});
/// Collective over the world: waits for the device, whose kernels may still use the block. Null is no block.
void free_symmetric(const char* call, void* block, const std::string& site);

/// Collective over the parent: rows of `xrange` members, and columns. `wrong`: what is wrong with the caller's other arguments, which
/// the others then learn.
TeamPair split_2d(const char* call, int parent, int xrange, const TeamConfig& x = {}, const TeamConfig& y = {},
                  const std::string& wrong = {});
/// Collective over the team; -1 is none.
void destroy_team(const char* call, int team);

}  // namespace causeway::host
