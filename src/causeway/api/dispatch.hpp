// Everything that the one-liners of the C API forward to on the device.
#pragma once
#include <causeway/amo/amo.hpp>
#include <causeway/api/on_group.hpp>
#include <causeway/api/queries.hpp>
#include <causeway/coll/move.hpp>
#include <causeway/coll/reduce.hpp>
#include <causeway/signal/wait_many.hpp>
