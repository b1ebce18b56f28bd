// Exported functions: reductions and scans.
#include <causeway/api/exports.hpp>

#include <causeway/generated/exports_reduce.inc>
