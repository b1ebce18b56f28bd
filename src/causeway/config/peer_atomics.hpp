// Which GPUs can update each other's memory atomically: over NVLink all can, over PCIe few.
#pragma once
#include <string>
#include <vector>

namespace causeway {

/// What PE `pe` says about peers whose GPU's memory its own GPU has no native atomics on; empty where there are none.
/// `has_atomics`: by peer.
std::string describe_missing_atomics(int pe, const std::vector<bool>& has_atomics);

}  // namespace causeway
