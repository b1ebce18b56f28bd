// Who makes a call: a thread, a warp or a block of a kernel, the host, or a stream.
#pragma once
#include "harness.hpp"

namespace conformance {

enum class Scope { thread, warp, block, host, stream };
inline const char* const kScopes[] = {"thread", "warp", "block", "host", "stream"};
constexpr Scope kAllScopes[] = {Scope::thread, Scope::warp, Scope::block, Scope::host, Scope::stream};

inline bool is_in_kernel(Scope scope) {
  return scope == Scope::thread || scope == Scope::warp || scope == Scope::block;
}

/// A block that is one group of the scope.
inline dim3 one_group(Random& random, Scope scope, int threads_max) {
  return scope == Scope::thread ? dim3(1) : scope == Scope::warp ? dim3(32) : random_block(random, threads_max, false);
}
/// How many threads of a block of `threads` make a group.
__device__ inline unsigned group_threads(Scope scope, unsigned threads) {
  return scope == Scope::thread ? 1 : scope == Scope::warp ? 32 : threads;
}
/// All threads of the group call it; the block is one group.
__device__ inline void sync_group(Scope scope) {
  if (scope == Scope::warp) __syncwarp();
  if (scope == Scope::block) __syncthreads();
}
/// Lets time pass, so that others have to wait. The memory must not hold -12345.
__device__ inline void dally(const int* memory, unsigned steps) {
  for (unsigned i = 0; i < steps; ++i)
    if (*static_cast<const volatile int*>(memory) == -12345) break;
}

}  // namespace conformance
