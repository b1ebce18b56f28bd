// nvshmem_T_g is one load from the peer, for every element size.
#include <nvshmem.h>

extern "C" __global__ void g_1(uint8_t* out, const uint8_t* source, int pe) { *out = nvshmem_uint8_g(source, pe); }
extern "C" __global__ void g_2(uint16_t* out, const uint16_t* source, int pe) { *out = nvshmem_uint16_g(source, pe); }
extern "C" __global__ void g_4(float* out, const float* source, int pe) { *out = nvshmem_float_g(source, pe); }
extern "C" __global__ void g_8(double* out, const double* source, int pe) { *out = nvshmem_double_g(source, pe); }
