// Which PEs make up a team: pure functions, no device needed.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

namespace causeway {

/// Where each PE of the job runs.
struct Placement {
  std::vector<uint64_t> host;  // by PE: equal numbers share memory
  std::vector<int> node;       // by PE: emulated or real nodes, numbered from 0
};

/// A set of world PEs: first, first + stride, ...; size 0: none.
struct StridedSet {
  int first = 0, stride = 1, size = 0;
  [[nodiscard]] int pe(int member) const { return first + member * stride; }
  /// Number of a world PE in the set, or -1.
  [[nodiscard]] int member_of(int world_pe) const;
  friend bool operator==(const StridedSet& a, const StridedSet& b) {
    return a.first == b.first && a.stride == b.stride && a.size == b.size;
  }
};

/// Members [start, start + stride, ...) of `parent`, as world PEs. Throws Error(invalid_value) naming what is wrong.
StridedSet split_strided(const StridedSet& parent, int start, int stride, int size);

/// The world PEs in `members` (ascending) as a strided set; nothing if they are not evenly spaced.
std::optional<StridedSet> as_strided(const std::vector<int>& members);

constexpr int kPredefinedTeams = 6;  // the numbers below it are the reference's: NVSHMEM_TEAM_WORLD, ...

/// The predefined team `number` of PE `pe`: its size is 0 if there is none (nodes of uneven sizes can leave a set that is
/// not evenly spaced, which is not offered).
StridedSet predefined_team(const Placement&, int pe, int number);

}  // namespace causeway
