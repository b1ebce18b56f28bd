#include <causeway/config/peer_atomics.hpp>

#include <fmt/format.h>

namespace causeway {

std::string describe_missing_atomics(int pe, const std::vector<bool>& has_atomics) {
  std::string peers;
  for (size_t peer = 0; peer < has_atomics.size(); ++peer)
    if (!has_atomics[peer]) peers += fmt::format("{}{}", peers.empty() ? "" : ", ", peer);
  if (peers.empty()) return {};
  return fmt::format(
      "PE {}: its GPU has no native atomics on the memory of the GPU of PE {} (cudaDevP2PAttrNativeAtomicSupported is "
      "0): between "
      "these PEs atomic operations and NVSHMEM_SIGNAL_ADD are not atomic",
      pe, peers);
}

}  // namespace causeway
