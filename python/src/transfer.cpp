// Put, get, signals and order on a stream.
#include "native.hpp"

namespace causeway::python {
namespace {

uint64_t* word(Address address) { return as_pointer<uint64_t>(address); }

void put(Address dest, Address source, size_t bytes, int pe, Address stream) {
  call([&] {
    check_report(
        [&] { nvshmemx_putmem_on_stream(as_pointer(dest), as_pointer(source), bytes, pe, as_stream(stream)); });
  });
}

void get(Address dest, Address source, size_t bytes, int pe, Address stream) {
  call([&] {
    check_report(
        [&] { nvshmemx_getmem_on_stream(as_pointer(dest), as_pointer(source), bytes, pe, as_stream(stream)); });
  });
}

void put_signal(Address dest, Address source, size_t bytes, Address signal, uint64_t value, int operation, int pe,
                Address stream) {
  call([&] {
    check_report([&] {
      nvshmemx_putmem_signal_on_stream(as_pointer(dest), as_pointer(source), bytes, word(signal), value, operation, pe,
                                       as_stream(stream));
    });
  });
}

void signal(Address signal, uint64_t value, int operation, int pe, Address stream) {
  call([&] {
    check_report([&] { nvshmemx_signal_op_on_stream(word(signal), value, operation, pe, as_stream(stream)); });
  });
}

void signal_wait(Address signal, int comparison, uint64_t value, Address stream) {
  call([&] {
    check_report([&] { nvshmemx_signal_wait_until_on_stream(word(signal), comparison, value, as_stream(stream)); });
  });
}

}  // namespace

void add_transfer(nb::module_& module) {
  module.attr("SIGNAL_SET") = int(NVSHMEM_SIGNAL_SET);
  module.attr("SIGNAL_ADD") = int(NVSHMEM_SIGNAL_ADD);
  nb::dict comparisons;
  comparisons["eq"] = int(NVSHMEM_CMP_EQ);
  comparisons["ne"] = int(NVSHMEM_CMP_NE);
  comparisons["gt"] = int(NVSHMEM_CMP_GT);
  comparisons["ge"] = int(NVSHMEM_CMP_GE);
  comparisons["lt"] = int(NVSHMEM_CMP_LT);
  comparisons["le"] = int(NVSHMEM_CMP_LE);
  module.attr("COMPARISONS") = comparisons;
  module.def("put", &put);
  module.def("get", &get);
  module.def("put_signal", &put_signal);
  module.def("signal", &signal);
  module.def("signal_wait", &signal_wait);
  module.def("quiet",
             [](Address stream) { call([&] { check_report([&] { nvshmemx_quiet_on_stream(as_stream(stream)); }); }); });
  module.def("barrier", [](int team, Address stream) {
    call([&] { check(nvshmemx_barrier_on_stream(team, as_stream(stream))); });
  });
  module.def("sync", [](int team, Address stream) {
    call([&] { check(nvshmemx_team_sync_on_stream(team, as_stream(stream))); });
  });
}

}  // namespace causeway::python
