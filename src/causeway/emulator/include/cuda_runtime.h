// Stand-in for CUDA's header of this name: the runtime interface and, for translated files, the device functions.
#pragma once
// nvcc's own header makes these visible, and programs count on it.
#include <assert.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "causeway_emulator/make_vectors.h"
#include "causeway_emulator/runtime_templates.h"
#include "library_types.h"
#if CAUSEWAY_CPU
#include "causeway_emulator.h"
#endif
