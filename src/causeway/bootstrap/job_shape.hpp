// Where a PE stands in its job: which node it belongs to and which PE of that node it is. Pure functions.
#pragma once
#include <cstdint>
#include <span>

namespace causeway {

/// A PE's place in the job and in its node. `local_pe` counts the PEs of the same node in PE order.
struct JobShape {
  int pe = 0, pes = 1, node = 0, nodes = 1, local_pe = 0, local_pes = 1;
  friend bool operator==(const JobShape&, const JobShape&) = default;
};

/// The node of a PE when `pes` PEs are dealt in consecutive blocks over `nodes` nodes; the first pes % nodes nodes get
/// one PE more. Needs 1 <= nodes <= pes and 0 <= pe < pes.
[[nodiscard]] int node_by_block(int pe, int pes, int nodes);

/// The shape when PEs with equal keys (a host, or a host and a node of the launcher) form a node. Nodes are numbered by
/// their lowest PE, so that every PE computes the same numbers. `keys` has one entry per PE.
[[nodiscard]] JobShape shape_by_keys(int pe, std::span<const std::uint64_t> keys);

}  // namespace causeway
