// Stand-in for CUDA's header of this name.
#pragma once
#include "cuda_runtime.h"
