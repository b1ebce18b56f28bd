// Stand-in for CUDA's header of this name.
#pragma once
#include "causeway_emulator/make_vectors.h"
