// Teams by their number.
#include "native.hpp"

#include <cstring>

namespace causeway::python {
namespace {

int split_strided(int parent, int start, int stride, int size) {
  return call([&] {
    nvshmem_team_t made = NVSHMEM_TEAM_INVALID;
    check(nvshmem_team_split_strided(parent, start, stride, size, nullptr, 0, &made));
    return int(made);
  });
}

nb::tuple split_2d(int parent, int xrange) {
  nvshmem_team_t x = NVSHMEM_TEAM_INVALID, y = NVSHMEM_TEAM_INVALID;
  call([&] { check(nvshmem_team_split_2d(parent, xrange, nullptr, 0, &x, nullptr, 0, &y)); });
  return nb::make_tuple(int(x), int(y));
}

uint64_t unique_id() {
  nvshmemx_team_uniqueid_t id = 0;
  check(nvshmemx_team_get_uniqueid(&id));
  return id;
}

int make(uint64_t id, int pes, int pe) {
  return call([&] {
    nvshmem_team_config_t config = NVSHMEM_TEAM_CONFIG_INITIALIZER;
    config.uniqueid = id;
    nvshmem_team_t made = NVSHMEM_TEAM_INVALID;
    check(nvshmemx_team_init(&made, &config, NVSHMEM_TEAM_CONFIG_MASK_UNIQUEID, pes, pe));
    return int(made);
  });
}

}  // namespace

void add_teams(nb::module_& module) {
  module.attr("TEAM_WORLD") = int(NVSHMEM_TEAM_WORLD);
  module.attr("TEAM_NODE") = int(NVSHMEMX_TEAM_NODE);
  module.attr("TEAM_SAME_MYPE_NODE") = int(NVSHMEMX_TEAM_SAME_MYPE_NODE);
  module.def("team_my_pe", [](int team) { return nvshmem_team_my_pe(team); });
  module.def("team_n_pes", [](int team) { return nvshmem_team_n_pes(team); });
  module.def("team_translate_pe", [](int team, int pe, int to) { return nvshmem_team_translate_pe(team, pe, to); });
  module.def("team_split_strided", &split_strided);
  module.def("team_split_2d", &split_2d);
  module.def("team_unique_id", &unique_id);
  module.def("team_make", &make);
  module.def("team_destroy", [](int team) { call([&] { check_report([&] { nvshmem_team_destroy(team); }); }); });
}

}  // namespace causeway::python
