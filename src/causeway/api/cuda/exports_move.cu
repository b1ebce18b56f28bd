// Exported functions of libcauseway.so: the host side of the API, and the kernels behind the stream-ordered forms.
#include <causeway/api/dispatch.hpp>
#include <causeway/api/edge.hpp>
#include <causeway/api/host_queries.hpp>
#include <causeway/api/on_host.hpp>
#include <causeway/base/export.hpp>

#define CAUSEWAY_EXPORT_HD(ret, name, params, host_body, device_body) \
  CAUSEWAY_EXPORT ret name params { host_body; }

#include <causeway/generated/exports_move.inc>
