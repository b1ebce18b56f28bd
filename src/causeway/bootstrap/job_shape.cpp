#include <causeway/bootstrap/job_shape.hpp>

#include <cstddef>
#include <cstdint>
#include <unordered_map>

namespace causeway {

int node_by_block(int pe, int pes, int nodes) {
  const int small = pes / nodes;
  const int large_nodes = pes % nodes;
  const int in_large = large_nodes * (small + 1);
  return pe < in_large ? pe / (small + 1) : large_nodes + (pe - in_large) / small;
}

JobShape shape_by_keys(int pe, std::span<const std::uint64_t> keys) {
  JobShape shape{pe, static_cast<int>(keys.size()), 0, 0, 0, 0};
  const std::uint64_t mine = keys[static_cast<std::size_t>(pe)];
  std::unordered_map<std::uint64_t, int> number_of_key;
  for (std::size_t other = 0; other < keys.size(); ++other) {
    number_of_key.try_emplace(keys[other], static_cast<int>(number_of_key.size()));
    if (keys[other] != mine) continue;
    if (static_cast<int>(other) < pe) ++shape.local_pe;
    ++shape.local_pes;
  }
  shape.nodes = static_cast<int>(number_of_key.size());
  shape.node = number_of_key.at(mine);
  return shape;
}

}  // namespace causeway
