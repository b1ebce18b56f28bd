// Which PEs make up a team: pure functions, no device needed.
#pragma once
#include <cstdint>
#include <vector>

namespace causeway {

/// Where each PE of the job runs.
struct Placement {
  std::vector<uint64_t> host;  // by PE: equal numbers share memory
  std::vector<int> node;       // by PE: emulated or real nodes, numbered from 0
};

/// World PEs, by their numbers in a team; empty: no team.
using Members = std::vector<int>;

/// Number of a world PE among the members, or -1.
[[nodiscard]] int number_of(const Members&, int world_pe);

/// Do the members lie at first, first + stride, ...? (One member does.)
[[nodiscard]] bool evenly_spaced(const Members&);

/// Members start, start + stride, ... of `parent`. Throws Error(invalid_value) naming what is wrong.
[[nodiscard]] Members split_strided(const Members& parent, int start, int stride, int size);

/// A row and a column of the parent, laid out in rows of `xrange` (the last row may be shorter).
struct Axes {
  Members x, y;
};
/// Those of the parent's member `number`. Throws Error(invalid_value) naming what is wrong.
[[nodiscard]] Axes split_2d(const Members& parent, int number, int xrange);

/// Members by what each PE of the world gave: its number in the new team, or -1 for those outside. Throws
/// Error(invalid_value) unless the numbers are 0 to size - 1.
[[nodiscard]] Members by_number(const std::vector<int>& numbers, int size);

constexpr int kPredefinedTeams = 6;  // the numbers below it are the reference's: NVSHMEM_TEAM_WORLD, ...

/// The predefined team `number` of PE `pe`: empty if there is none.
[[nodiscard]] Members predefined_team(const Placement&, int pe, int number);

}  // namespace causeway
