// Exported functions: put, get and put with signal.
#include <causeway/api/exports.hpp>

#if defined(CAUSEWAY_CPU)
#include <causeway/api/stream/move.hpp>
#else
#include <causeway/api/host/move.hpp>
#endif

#include <causeway/generated/exports_move.inc>
