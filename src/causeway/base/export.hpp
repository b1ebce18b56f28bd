// How the library exports a C function.
#pragma once
#define CAUSEWAY_EXPORT extern "C" __attribute__((visibility("default")))
