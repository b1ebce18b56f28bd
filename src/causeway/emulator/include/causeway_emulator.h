// What translated device code uses: launches, indices, shared memory and CUDA's device functions.
#pragma once
#include "causeway_emulator/launch.h"
#include "causeway_emulator/thread.h"
#include "causeway_emulator/barriers.h"
#include "causeway_emulator/warp.h"
#include "causeway_emulator/atomics.h"
#include "causeway_emulator/memory_access.h"
#include "causeway_emulator/integers.h"
#include "causeway_emulator/conversions.h"
#include "causeway_emulator/rounded_arithmetic.h"
#include "causeway_emulator/math_functions.h"
#include "causeway_emulator/min_max.h"
