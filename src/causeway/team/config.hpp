// What is given with a team that is made, and what comes back.
#pragma once
#include <cstdint>

namespace causeway {

/// What a program gave with a team (nvshmem_team_config_t).
struct TeamConfig {
  int contexts = 0;
  uint64_t unique_id = 0;
};

/// Teams of a 2-D split: slots, -1 for none.
struct TeamPair {
  int x = -1, y = -1;
};

}  // namespace causeway
