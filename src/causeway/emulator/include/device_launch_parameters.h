// Stand-in for CUDA's header of this name; the translator gives threadIdx and its like their meaning.
#pragma once
#include "vector_types.h"
