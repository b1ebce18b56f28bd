// cudaError_t with CUDA's numbers.
#pragma once

#define BOTH(name, driver, value, text) name = value,
#define RUNTIME(name, value, text) name = value,
enum cudaError {
#include "error_list.h"
};
typedef enum cudaError cudaError_t;
