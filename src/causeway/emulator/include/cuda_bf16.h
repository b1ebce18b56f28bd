// Stand-in for CUDA's header of this name: bfloat16 and its pair.
#pragma once
#include "causeway_emulator/bfloat16.h"
