// Exported functions: put, get and put with signal.
#include <causeway/api/exports.hpp>

#include <causeway/generated/exports_move.inc>
