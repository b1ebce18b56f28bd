// Collectives on a stream. Reductions are found by the names of operator and type.
#include "native.hpp"

#include <nanobind/stl/string.h>

#include <map>

namespace causeway::python {
namespace {

/// A reduction of any type: dest, source, elements.
using Reduction = int (*)(int team, void* dest, const void* source, size_t elements, cudaStream_t stream);

template <auto Function, class T>
int typed(int team, void* dest, const void* source, size_t elements, cudaStream_t stream) {
  return Function(team, static_cast<T*>(dest), static_cast<const T*>(source), elements, stream);
}

using Table = std::map<std::string, Reduction>;  // by "operator type"

#define CAUSEWAY_ADD(form, operation, type, T, name) \
  table[#operation " " name] = &typed<&nvshmemx_##type##_##operation##_##form##_on_stream, T>;
#define CAUSEWAY_NUMBER(form, type, T, name) \
  CAUSEWAY_ADD(form, sum, type, T, name)     \
  CAUSEWAY_ADD(form, prod, type, T, name)    \
  CAUSEWAY_ADD(form, min, type, T, name)     \
  CAUSEWAY_ADD(form, max, type, T, name)
#define CAUSEWAY_INTEGER(form, type, T)   \
  CAUSEWAY_NUMBER(form, type, T, #type)   \
  CAUSEWAY_ADD(form, and, type, T, #type) \
  CAUSEWAY_ADD(form, or, type, T, #type)  \
  CAUSEWAY_ADD(form, xor, type, T, #type)
#define CAUSEWAY_ALL(form)                                   \
  CAUSEWAY_NUMBER(form, bfloat16, __nv_bfloat16, "bfloat16") \
  CAUSEWAY_NUMBER(form, half, half, "float16")               \
  CAUSEWAY_NUMBER(form, float, float, "float32")             \
  CAUSEWAY_NUMBER(form, double, double, "float64")           \
  CAUSEWAY_INTEGER(form, int8, int8_t)                       \
  CAUSEWAY_INTEGER(form, int16, int16_t)                     \
  CAUSEWAY_INTEGER(form, int32, int32_t)                     \
  CAUSEWAY_INTEGER(form, int64, int64_t)                     \
  CAUSEWAY_INTEGER(form, uint8, uint8_t)                     \
  CAUSEWAY_INTEGER(form, uint16, uint16_t)                   \
  CAUSEWAY_INTEGER(form, uint32, uint32_t)                   \
  CAUSEWAY_INTEGER(form, uint64, uint64_t)

Table reductions() {
  Table table;
  CAUSEWAY_ALL(reduce)
  return table;
}
Table reducescatters() {
  Table table;
  CAUSEWAY_ALL(reducescatter)
  return table;
}

void run(const Table& table, const std::string& operation, const std::string& type, int team, Address dest,
         Address source, size_t elements, Address stream) {
  const auto found = table.find(operation + " " + type);
  if (found == table.end())
    throw std::invalid_argument("op is '" + operation + "' on " + type +
                                ": must be sum, prod, min or max of a number type, or and, or, xor of an integer type");
  call([&] { check(found->second(team, as_pointer(dest), as_pointer(source), elements, as_stream(stream))); });
}

}  // namespace

void add_collectives(nb::module_& module) {
  module.def("broadcast", [](int team, Address dest, Address source, size_t bytes, int root, Address stream) {
    call([&] {
      check(
          nvshmemx_broadcastmem_on_stream(team, as_pointer(dest), as_pointer(source), bytes, root, as_stream(stream)));
    });
  });
  module.def("fcollect", [](int team, Address dest, Address source, size_t bytes, Address stream) {
    call([&] {
      check(nvshmemx_fcollectmem_on_stream(team, as_pointer(dest), as_pointer(source), bytes, as_stream(stream)));
    });
  });
  module.def("alltoall", [](int team, Address dest, Address source, size_t bytes, Address stream) {
    call([&] {
      check(nvshmemx_alltoallmem_on_stream(team, as_pointer(dest), as_pointer(source), bytes, as_stream(stream)));
    });
  });
  module.def("reduce", [](const std::string& operation, const std::string& type, int team, Address dest, Address source,
                          size_t elements, Address stream) {
    static const Table table = reductions();
    run(table, operation, type, team, dest, source, elements, stream);
  });
  module.def("reducescatter", [](const std::string& operation, const std::string& type, int team, Address dest,
                                 Address source, size_t elements, Address stream) {
    static const Table table = reducescatters();
    run(table, operation, type, team, dest, source, elements, stream);
  });
}

}  // namespace causeway::python
