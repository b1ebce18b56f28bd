// Stand-in for CUDA's header of this name.
#pragma once
#include "driver_types.h"
#include "vector_types.h"
