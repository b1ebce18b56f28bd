// Stand-in for CUDA's header of this name: the runtime interface.
#pragma once
#include "causeway_emulator/runtime_api.h"
