// Exported functions of libcauseway_cpu.so for host files that are not translated: the host runs the device's code.
#include <causeway/api/dispatch.hpp>
#include <causeway/api/edge.hpp>
#include <causeway/api/on_stream.hpp>
#include <causeway/base/export.hpp>

#define CAUSEWAY_EXPORT_HD(ret, name, params, host_body, device_body) \
  CAUSEWAY_EXPORT ret name params { device_body; }

#include <causeway/generated/exports_move.inc>
