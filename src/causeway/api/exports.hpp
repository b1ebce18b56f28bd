// What a unit of exported functions begins with. libcauseway.so has the host side of the API, and the kernels behind the
// stream-ordered forms. In libcauseway_cpu.so, for host files that are not translated, the host runs the device's code.
#pragma once
#include <causeway/api/dispatch.hpp>
#include <causeway/api/edge.hpp>
#include <causeway/api/on_stream.hpp>
#include <causeway/base/export.hpp>

#if defined(CAUSEWAY_CPU)
#define CAUSEWAY_EXPORT_HD(ret, name, params, host_body, device_body) \
  CAUSEWAY_EXPORT ret name params { device_body; }
#else
#include <causeway/api/host_queries.hpp>
#include <causeway/api/on_host.hpp>
#define CAUSEWAY_EXPORT_HD(ret, name, params, host_body, device_body) \
  CAUSEWAY_EXPORT ret name params { host_body; }
#endif
