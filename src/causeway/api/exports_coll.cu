// Exported functions: collectives.
#include <causeway/api/exports.hpp>

#include <causeway/generated/exports_coll.inc>
