// Exported functions of libcauseway.so: the host side of the API, and the kernels behind the stream-ordered forms.
#include <causeway/base/export.hpp>
#include <causeway/api/types.h>
#include <causeway/api/host/coll.hpp>

#define CAUSEWAY_EXPORT_HD(ret, name, params, host_body, device_body) \
  CAUSEWAY_EXPORT ret name params { host_body; }

#include <causeway/generated/exports_coll.inc>
