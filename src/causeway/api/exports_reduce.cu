// Exported functions: reductions and scans.
#include <causeway/api/exports.hpp>

#if defined(CAUSEWAY_CPU)
#include <causeway/api/stream/coll.hpp>
#else
#include <causeway/api/host/coll.hpp>
#endif

#include <causeway/generated/exports_reduce.inc>
