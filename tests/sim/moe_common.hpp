// What the simulated programs of the mixture-of-experts buffer share.
#pragma once
#include "moe_compiled.hpp"

#include <cstdio>
#include <vector>

using namespace causeway::moe;
using Bf16 = __nv_bfloat16;

static int me, pes, wrong;

static uint32_t mix(uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
  uint32_t h = 2166136261u;
  for (const uint32_t word : {a, b, c, d}) h = (h ^ word) * 16777619u, h ^= h >> 15;
  return h * 2654435761u >> 8;
}
static void expect(bool good, const char* what, int round, int i, double got, double expected) {
  if (!good && wrong++ < 3) std::printf("PE %d, round %d: %s %d: %g, expected %g\n", me, round, what, i, got, expected);
}

template <class T>
static T* device(size_t count) {
  T* memory = nullptr;
  cudaMalloc(&memory, count * sizeof(T));
  cudaMemset(memory, 0, count * sizeof(T));
  return memory;
}
template <class T>
static std::vector<T> fetch(const T* from, size_t count) {
  std::vector<T> values(count);
  cudaMemcpy(static_cast<void*>(values.data()), from, count * sizeof(T), cudaMemcpyDefault);
  return values;
}

__global__ void stall(int polls) {
  for (int i = 0; i < polls; ++i) __nanosleep(1000);
}
/// Who is slow, and where, depends on the round.
static void stall_some(int round, int site, cudaStream_t stream) {
  const uint32_t drawn = mix(5, uint32_t(round), uint32_t(site), uint32_t(me));
  if (drawn % 3 == 0) stall<<<1, 1, 0, stream>>>(int(drawn / 3 % 600));
}
