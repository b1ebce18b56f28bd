// What a cudaStream_t stands for.
#pragma once
#include <causeway/emulator/runtime/call.hpp>
#include <causeway/machine/cpu/device.hpp>

namespace causeway::emulator {

/// The machine's stream behind a handle: the legacy default stream (nullptr, cudaStreamLegacy), the calling thread's
/// own (cudaStreamPerThread) or a created one. Refuses any other handle.
cpu::Stream* stream_of(cudaStream_t handle);

/// stream_of for calls that a capturing stream cannot make.
cpu::Stream* running_stream_of(cudaStream_t handle);

}  // namespace causeway::emulator
