// Which node of its job a PE belongs to. A pure function.
#pragma once

namespace causeway {

/// The node of a PE when `pes` PEs are dealt in consecutive blocks over `nodes` nodes; the first pes % nodes nodes get
/// one PE more. Needs 1 <= nodes <= pes and 0 <= pe < pes.
[[nodiscard]] int node_by_block(int pe, int pes, int nodes);

}  // namespace causeway
