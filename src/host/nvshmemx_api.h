// The host interface of the extensions under its older path.
#pragma once
#include <nvshmemx.h>
