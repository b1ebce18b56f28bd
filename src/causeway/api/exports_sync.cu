// Exported functions: atomics, waits, order and all else.
#include <causeway/api/exports.hpp>

#if defined(CAUSEWAY_CPU)
#include <causeway/api/stream/coll.hpp>
#include <causeway/api/stream/move.hpp>
#include <causeway/api/stream/sync.hpp>
#else
#include <causeway/api/host/coll.hpp>
#include <causeway/api/host/sync.hpp>
#endif

#include <causeway/generated/exports_sync.inc>
