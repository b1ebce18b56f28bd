#include <causeway/bootstrap/node_by_block.hpp>

namespace causeway {

int node_by_block(int pe, int pes, int nodes) {
  const int small = pes / nodes;
  const int large_nodes = pes % nodes;
  const int in_large = large_nodes * (small + 1);
  return pe < in_large ? pe / (small + 1) : large_nodes + (pe - in_large) / small;
}

}  // namespace causeway
