// The extension module: the same source for each machine, linked to its library.
#include "native.hpp"

NB_MODULE(CAUSEWAY_MODULE, module) {
  module.doc() = "The host interface of Causeway with addresses as integers; the package above it checks and explains.";
#if defined(CAUSEWAY_PYTHON_CPU)
  module.attr("machine") = "cpu";
#else
  module.attr("machine") = "cuda";
#endif
  module.attr("version") = CAUSEWAY_VERSION_STRING;
  nanobind::set_leak_warnings(false);  // a program that ends by an exception leaves objects behind
  causeway::python::add_world(module);
  causeway::python::add_teams(module);
  causeway::python::add_streams(module);
  causeway::python::add_transfer(module);
  causeway::python::add_collectives(module);
  causeway::python::add_moe(module);
}
