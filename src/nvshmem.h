// The NVSHMEM interface: symmetric memory, one-sided operations, order, teams and collectives, from kernels and host
// code.
#pragma once
#include <causeway/api/types.h>
#include <causeway/machine/declare.hpp>
#if !defined(CAUSEWAY_HOST_ONLY)
#include <causeway/api/dispatch.hpp>
#endif
#include <causeway/generated/nvshmem_api.h>

#define nvshmem_sync nvshmem_team_sync
