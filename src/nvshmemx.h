// The NVSHMEM interface's extensions: warp and block scope, stream-ordered forms, unique-id start-up, collective
// launch.
#pragma once
#include <nvshmem.h>
// (after the base interface, whose types it uses)
#include <causeway/generated/nvshmemx_api.h>

#include <causeway/api/collective_launch.hpp>
#if !defined(CAUSEWAY_HOST_ONLY)
#include <causeway/api/tile.hpp>
#endif
