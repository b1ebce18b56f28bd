// Exported functions: atomics, waits, order and all else.
#include <causeway/api/exports.hpp>

#include <causeway/generated/exports_sync.inc>
