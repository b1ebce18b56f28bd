// Devices as the runtime counts them: all are the one machine; a number says which one a thread chose.
#pragma once
#include <causeway/emulator/runtime/call.hpp>

namespace causeway::emulator {

/// What cudaGetDeviceCount answers: the context's number, else CAUSEWAY_CPU_DEVICES or CAUSEWAY_PES, else 1.
int device_count();
/// The calling thread's device; 0 until it chooses.
int selected_device();
void select_device(int device);
/// Refuses a number that is no device.
void check_device(int device);

}  // namespace causeway::emulator
