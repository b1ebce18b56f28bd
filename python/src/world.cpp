// Joining and leaving a job, symmetric memory, and how memory is shown to array libraries.
#include "native.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstring>

namespace causeway::python {
namespace {

void init() {
  int provided = 0;
  check(nvshmem_init_thread(NVSHMEM_THREAD_SERIALIZED, &provided));
}

nb::bytes unique_id() {
  nvshmemx_uniqueid_t id;
  check(nvshmemx_get_uniqueid(&id));
  return nb::bytes(&id, sizeof id);
}

void init_by_id(const nb::bytes& given, int rank, int ranks) {
  nvshmemx_uniqueid_t id;
  if (given.size() != sizeof id)
    throw std::invalid_argument("unique_id has " + std::to_string(given.size()) + " bytes: must have " +
                                std::to_string(sizeof id) + ", as causeway.unique_id() gives them");
  std::memcpy(&id, given.c_str(), sizeof id);
  call([&] {
    nvshmemx_init_attr_t attributes;
    check(nvshmemx_set_attr_uniqueid_args(rank, ranks, &id, &attributes));
    check(nvshmemx_init_attr(NVSHMEMX_INIT_WITH_UNIQUEID, &attributes));
  });
}

Address allocate(size_t bytes, bool zeroed) {
  void* made = call([&] { return zeroed ? nvshmem_calloc(bytes, 1) : nvshmem_malloc(bytes); });
  if (!made) throw std::runtime_error(causeway_last_error());
  return reinterpret_cast<Address>(made);
}

/// An object with __dlpack__ over memory that `owner` keeps.
nb::ndarray<nb::array_api> view(Address address, const std::vector<size_t>& shape, int code, int bits, int device_type,
                                int device, nb::handle owner) {
  const nb::dlpack::dtype type{uint8_t(code), uint8_t(bits), 1};
  return {as_pointer(address), shape.size(), shape.data(), owner, nullptr, type, device_type, device};
}

/// Of any object with __dlpack__: address, shape, strides in elements, type (code, bits), device (type, number).
nb::tuple describe(const nb::ndarray<nb::ro>& array) {
  nb::list shape, strides;
  for (size_t i = 0; i < array.ndim(); ++i) {
    shape.append(array.shape(i));
    strides.append(array.stride(i));
  }
  return nb::make_tuple(reinterpret_cast<Address>(array.data()), nb::tuple(shape), nb::tuple(strides),
                        int(array.dtype().code), int(array.dtype().bits) * int(array.dtype().lanes),
                        array.device_type(), array.device_id());
}

}  // namespace

void add_world(nb::module_& module) {
  module.def("init", [] { call(init); });
  module.def("unique_id", &unique_id);
  module.def("init_by_id", &init_by_id);
  module.def("finalize", [] { call([] { check_report([] { nvshmem_finalize(); }); }); });
  module.def("is_initialized", [] { return nvshmemx_init_status() > NVSHMEM_STATUS_NOT_INITIALIZED; });
  module.def("is_bound", [] { return nvshmemx_init_status() >= NVSHMEM_STATUS_IS_INITIALIZED; });
  module.def("my_pe", [] { return nvshmem_my_pe(); });
  module.def("n_pes", [] { return nvshmem_n_pes(); });
  module.def("allocate", &allocate);
  module.def("free", [](Address address) { call([&] { check_report([&] { nvshmem_free(as_pointer(address)); }); }); });
  module.def("peer_address",
             [](Address address, int pe) { return reinterpret_cast<Address>(nvshmem_ptr(as_pointer(address), pe)); });
  module.def("view", &view);
  module.def("describe", &describe);
}

}  // namespace causeway::python
