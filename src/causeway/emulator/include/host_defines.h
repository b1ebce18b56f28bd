// Stand-in for CUDA's header of this name.
#pragma once
#include "causeway_emulator/specifiers.h"
