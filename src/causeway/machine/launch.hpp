// Launches the library's own kernels: function objects whose operator() is device code, passed by value. For the
// library's own units, which may throw.
#pragma once
#include <causeway/machine/machine.hpp>

#include CAUSEWAY_LAUNCH_HEADER
