// Exported functions: collectives.
#include <causeway/api/exports.hpp>

#if defined(CAUSEWAY_CPU)
#include <causeway/api/stream/coll.hpp>
#else
#include <causeway/api/host/coll.hpp>
#endif

#include <causeway/generated/exports_coll.inc>
