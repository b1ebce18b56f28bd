// What the generated one-liners of the C API forward to on the device (and, on the CPU machine, on the host): finds the
// unit's world, checks, and calls the operation with the group as an argument.
#pragma once
#include <causeway/api/dispatch/amo.hpp>
#include <causeway/api/dispatch/coll.hpp>
#include <causeway/api/dispatch/rma.hpp>
#include <causeway/api/dispatch/signal.hpp>
#include <causeway/api/dispatch/team.hpp>
