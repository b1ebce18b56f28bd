// nvshmem_T_p is one store to the peer, for every element size.
#include <nvshmem.h>

extern "C" __global__ void p_1(uint8_t* dest, uint8_t value, int pe) { nvshmem_uint8_p(dest, value, pe); }
extern "C" __global__ void p_2(uint16_t* dest, uint16_t value, int pe) { nvshmem_uint16_p(dest, value, pe); }
extern "C" __global__ void p_4(float* dest, float value, int pe) { nvshmem_float_p(dest, value, pe); }
extern "C" __global__ void p_8(double* dest, double value, int pe) { nvshmem_double_p(dest, value, pe); }
