// Elements of up to 8 bytes that lie at multiples of their size arrive whole, also where source and destination are at
// different distances from a multiple of 16: while they are written again and again, a reader never finds one whose
// bytes differ.
#include "harness.hpp"
#include "scope.hpp"

using namespace conformance;

namespace {

constexpr int kElements = 5, kRounds = 3000;

struct Buffers {
  char *dest, *source;  // with room for the offsets
  uint64_t* words;      // signals: the reader is there, the writer is through
};

template <class T>
__device__ T repeated(int round) {
  return T(~T{0} / 255 * T(1 + round % 250));  // a byte, repeated
}

template <class T>
__device__ void put(Scope scope, T* dest, const T* source, size_t count, int pe) {
  const size_t bytes = count * sizeof(T);
  if (scope == Scope::thread) nvshmem_putmem(dest, source, bytes, pe);
  if (scope == Scope::warp) nvshmemx_putmem_warp(dest, source, bytes, pe);
  if (scope == Scope::block) nvshmemx_putmem_block(dest, source, bytes, pe);
}

template <class T>
__global__ void write_again(Buffers at, Scope scope, size_t to, size_t from, int count, int pe) {
  T* source = reinterpret_cast<T*>(at.source + from);
  if (threadIdx.x == 0) nvshmem_signal_wait_until(at.words, NVSHMEM_CMP_EQ, 1);
  __syncthreads();
  for (int round = 0; round < kRounds; ++round) {
    if (int(threadIdx.x) < count) source[threadIdx.x] = repeated<T>(round);
    __syncthreads();
    put(scope, reinterpret_cast<T*>(at.dest + to), source, size_t(count), pe);
  }
  nvshmem_quiet();
  __syncthreads();
  if (threadIdx.x == 0) nvshmemx_signal_op(at.words + 1, 1, NVSHMEM_SIGNAL_SET, pe);
}

template <class T>
__global__ void watch(Buffers at, size_t to, int count, int writer, int* torn) {
  nvshmemx_signal_op(at.words, 1, NVSHMEM_SIGNAL_SET, writer);
  const volatile T* dest = reinterpret_cast<const volatile T*>(at.dest + to);
  bool through = false;
  for (int looks = 0; !through && looks < 100000000; ++looks) {
    through = nvshmem_uint64_test(at.words + 1, NVSHMEM_CMP_EQ, 1) != 0;
    for (int i = 0; i < count; ++i) {
      const T seen = dest[i];
      if (seen != T(~T{0} / 255 * T(seen & 255))) atomicAdd(torn, 1);
    }
  }
}

/// PE 0 writes, the last PE reads. (Alone, a PE writes on a stream and reads on another.)
template <class T>
void run(Suite& suite, Random& random, const Buffers& at, Scope scope, int* torn) {
  const size_t to = sizeof(T) * random.below(32 / sizeof(T)), from = sizeof(T) * random.below(32 / sizeof(T));
  const int count = random.between(1, kElements), reader = suite.pes - 1;
  const unsigned threads = scope == Scope::thread ? 1 : scope == Scope::warp ? 32 : 64;
  CHECK(cudaMemsetAsync(at.dest, 0, 128, suite.stream));
  CHECK(cudaMemsetAsync(at.words, 0, 2 * sizeof(uint64_t), suite.stream));
  CHECK(cudaMemsetAsync(torn, 0, sizeof(int), suite.stream));
  suite.synchronize();
  nvshmem_barrier_all();
  cudaStream_t beside = nullptr;
  CHECK(cudaStreamCreateWithFlags(&beside, cudaStreamNonBlocking));
  if (suite.me == 0)
    write_again<T><<<1, threads, 0, beside>>>(at, scope, to, from, scope == Scope::thread ? 1 : count, reader);
  if (suite.me == reader) watch<T><<<1, 1, 0, suite.stream>>>(at, to, scope == Scope::thread ? 1 : count, 0, torn);
  CHECK(cudaGetLastError());
  CHECK(cudaStreamSynchronize(beside));
  suite.synchronize();
  CHECK(cudaStreamDestroy(beside));
  int found = -1;
  copy(&found, torn, sizeof found, suite.stream);
  if (found != 0) suite.wrong("%d elements of %zu bytes half written (to %zu, from %zu)", found, sizeof(T), to, from);
  nvshmem_barrier_all();
}

}  // namespace

int main(int argc, char** argv) {
  Suite suite(argc, argv);
  suite.init();
  Buffers at{static_cast<char*>(nvshmem_align(256, 256)), static_cast<char*>(nvshmem_align(256, 256)),
             static_cast<uint64_t*>(nvshmem_calloc(2, sizeof(uint64_t)))};
  CHECK(at.dest), CHECK(at.source), CHECK(at.words);
  int* torn = nullptr;
  CHECK(cudaMalloc(&torn, sizeof(int)));
  const int cases = (suite.cases + 9) / 10;
  for (Scope scope : {Scope::thread, Scope::warp, Scope::block}) {
    const std::string by = std::string("whole elements by ") + kScopes[int(scope)];
    suite.family((by + ", 2 bytes").c_str(), cases, [&](Random& r, int) { run<uint16_t>(suite, r, at, scope, torn); });
    suite.family((by + ", 4 bytes").c_str(), cases, [&](Random& r, int) { run<uint32_t>(suite, r, at, scope, torn); });
    suite.family((by + ", 8 bytes").c_str(), cases, [&](Random& r, int) { run<uint64_t>(suite, r, at, scope, torn); });
  }
  CHECK(cudaFree(torn));
  nvshmem_free(at.words), nvshmem_free(at.source), nvshmem_free(at.dest);
  return suite.finish();
}
