// Barriers and syncs: one fence, by the group's leader alone, before the relaxed stores of the epoch.
#include <nvshmemx.h>

extern "C" __global__ void barrier_all_block() { nvshmemx_barrier_all_block(); }
extern "C" __global__ void barrier_all_thread() { nvshmem_barrier_all(); }
extern "C" __global__ void sync_all_block() { nvshmemx_sync_all_block(); }
extern "C" __global__ void sync_all_warp() { nvshmemx_sync_all_warp(); }
