// Teams of any PEs in any order, made by their members alone, and the id by which these meet.
#pragma once
#include "harness.hpp"

namespace conformance {

/// Some PEs of the world, in any order: the same on all PEs.
inline std::vector<int> draw_members(Random& random, int pes, int size) {
  std::vector<int> all;
  for (int pe = 0; pe < pes; ++pe) all.push_back(pe);
  for (int i = 0; i < size; ++i) std::swap(all[size_t(i)], all[size_t(random.between(i, pes - 1))]);
  all.resize(size_t(size));
  return all;
}
/// A PE's number among the members, or -1.
inline int number_among(const std::vector<int>& members, int pe) {
  const auto found = std::find(members.begin(), members.end(), pe);
  return found == members.end() ? -1 : int(found - members.begin());
}

/// An id that `maker` makes and all PEs get. `word` is symmetric; all PEs call it.
inline nvshmemx_team_uniqueid_t pass_id(Suite& suite, uint64_t* word, int maker) {
  if (suite.me == maker) {
    nvshmemx_team_uniqueid_t id = NVSHMEM_TEAM_UNIQUID_INITIALIZER;
    suite.equal(nvshmemx_team_get_uniqueid(&id), 0, "status of team_get_uniqueid");
    for (int pe = 0; pe < suite.pes; ++pe) nvshmem_uint64_p(word, id, pe);
  }
  nvshmem_barrier_all();
  const uint64_t id = nvshmem_uint64_g(word, suite.me);
  nvshmem_barrier_all();  // the word may be used again
  return id;
}

/// The calling member's handle of a team of these PEs; invalid for others.
inline nvshmem_team_t init_team(Suite& suite, nvshmemx_team_uniqueid_t id, const std::vector<int>& members) {
  const int number = number_among(members, suite.me);
  nvshmem_team_t team = NVSHMEM_TEAM_INVALID;
  if (number < 0) return team;
  nvshmem_team_config_t config = NVSHMEM_TEAM_CONFIG_INITIALIZER;
  config.uniqueid = id;
  const int status = nvshmemx_team_init(&team, &config, NVSHMEM_TEAM_CONFIG_MASK_UNIQUEID, int(members.size()), number);
  if (status != 0) suite.wrong("team_init of %zu PEs: status %d (%s)", members.size(), status, causeway_last_error());
  return team;
}

}  // namespace conformance
