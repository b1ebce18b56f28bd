// The host interface under its older path.
#pragma once
#include <nvshmem.h>
