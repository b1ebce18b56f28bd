// Stand-in for CUDA's header of this name: handles, flags and records.
#pragma once
#include "causeway_emulator/device_properties.h"
#include "causeway_emulator/launch_types.h"
