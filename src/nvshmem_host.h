// The host part of the NVSHMEM interface, under the name that host-only programs use.
#pragma once
#include <nvshmem.h>
#include <nvshmemx.h>
