// Stand-in for CUDA's header of this name.
#pragma once
#include "cuda_runtime.h"

namespace cooperative_groups {}
#if CAUSEWAY_CPU
#include "causeway_emulator/groups.h"
#endif
