// Stand-in for CUDA's header of this name: half and half2.
#pragma once
#include "causeway_emulator/half.h"
