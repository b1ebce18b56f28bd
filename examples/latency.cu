// How long the basic operations take, between PE 0 and PE 1 (with one PE: to itself), as a table that PE 0 prints.
#include <cuda_runtime.h>
#include <nvshmem.h>
#include <nvshmemx.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>

// A failed call ends the whole job: the other PEs would wait for this one forever.
static void require(bool good, const char* call, const char* why) {
  if (good) return;
  std::fprintf(stderr, "PE %d: %s: %s\n", nvshmem_my_pe(), call, why);
  nvshmem_global_exit(1);
}
#define CHECK(call) check((call), #call)
static void check(cudaError_t error, const char* call) {
  require(error == cudaSuccess, call, cudaGetErrorString(error));
}
static void check(int status, const char* call) { require(status == 0, call, "failed"); }

// ---------------------------------------------------------------- kernels

// PE 0 sends a number, PE 1 sends it back. With one PE, PE 0 hears itself.
__global__ void ping_pong(uint64_t* word, uint64_t* signal, uint64_t rounds) {
  const int me = nvshmem_my_pe(), peer = nvshmem_n_pes() > 1 ? 1 - me : 0;
  if (me > 1) return;
  for (uint64_t round = 1; round <= rounds; ++round) {
    if (me == 1) nvshmem_signal_wait_until(signal, NVSHMEM_CMP_GE, round);
    nvshmem_uint64_put_signal(word, word, 1, signal, round, NVSHMEM_SIGNAL_SET, peer);
    if (me == 0) nvshmem_signal_wait_until(signal, NVSHMEM_CMP_GE, round);
  }
}

// `times` messages of `bytes`; the blocks share each message.
__global__ void put_many(char* dest, const char* source, size_t bytes, int times, int peer) {
  const size_t begin = bytes * blockIdx.x / gridDim.x, end = bytes * (blockIdx.x + 1) / gridDim.x;
  for (int i = 0; i < times; ++i) nvshmemx_putmem_nbi_block(dest + begin, source + begin, end - begin, peer);
  nvshmem_quiet();
}

// ---------------------------------------------------------------- timing

// Seconds for one `body()`, called for about 20 ms, or 4 times if that takes longer.
template <class Body>
static double time_host(Body body) {
  using Clock = std::chrono::steady_clock;
  body();
  int calls = 0;
  double seconds = 0;
  const auto start = Clock::now();
  for (int batch = 4; seconds < 0.02; batch = std::min(2 * batch, 64)) {
    for (int i = 0; i < batch; ++i) body();
    calls += batch;
    seconds = std::chrono::duration<double>(Clock::now() - start).count();
  }
  return seconds / calls;
}

// Seconds that the stream spends on what `enqueue()` puts there.
template <class Enqueue>
static double time_stream(cudaStream_t stream, Enqueue enqueue) {
  cudaEvent_t start, stop;
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreate(&stop));
  CHECK(cudaEventRecord(start, stream));
  enqueue();
  CHECK(cudaEventRecord(stop, stream));
  CHECK(cudaStreamSynchronize(stream));
  float milliseconds = 0;
  CHECK(cudaEventElapsedTime(&milliseconds, start, stop));
  CHECK(cudaEventDestroy(stop));
  CHECK(cudaEventDestroy(start));
  return milliseconds / 1e3;
}

static void print_time(const char* what, double seconds) { std::printf("  %-52s %10.3f us\n", what, seconds * 1e6); }

static void print_size(size_t bytes) {
  if (bytes < 1024)
    std::printf("  %6zu B  ", bytes);
  else if (bytes < 1024 * 1024)
    std::printf("  %6zu KiB", bytes / 1024);
  else
    std::printf("  %6zu MiB", bytes / 1024 / 1024);
}

// ---------------------------------------------------------------- the table

constexpr size_t kBytesMax = 4 << 20;

// PE 0 alone: the others take no part, they wait in the barrier that follows.
static void measure_host(char* dest, char* source, int peer) {
  auto* to = reinterpret_cast<uint64_t*>(dest);
  auto* from = reinterpret_cast<uint64_t*>(source);
  print_time("p and quiet, from the host", time_host([=] {
               nvshmem_uint64_p(to, 1, peer);
               nvshmem_quiet();
             }));
  print_time("put of 8 B and quiet, from the host", time_host([=] {
               nvshmem_uint64_put(to, from, 1, peer);
               nvshmem_quiet();
             }));
  print_time("get of 8 B, from the host", time_host([=] { nvshmem_uint64_get(from, to, 1, peer); }));
}

// Also PE 0 alone.
static void measure_bandwidth(char* dest, char* source, int peer, cudaStream_t stream) {
  std::printf("\n  put bandwidth          from a kernel         from the host\n");
  for (size_t bytes :
       {size_t(8), size_t(64), size_t(512), size_t(4096), size_t(32768), size_t(262144), size_t(1048576), kBytesMax}) {
    const int blocks = bytes < 65536 ? 1 : 16;
    const int times = int(std::min<size_t>(512, std::max<size_t>(8, (32 << 20) / bytes)));
    const auto launch = [&](int count) {
      put_many<<<blocks, 256, 0, stream>>>(dest, source, bytes, count, peer);
      CHECK(cudaGetLastError());
    };
    time_stream(stream, [&] { launch(1); });
    const double kernel = time_stream(stream, [&] { launch(times); }) / times;
    const double host = time_host([=] {
      nvshmem_putmem(dest, source, bytes, peer);
      nvshmem_quiet();
    });
    print_size(bytes);
    std::printf("  %17.1f MB/s  %15.1f MB/s\n", bytes / kernel / 1e6, bytes / host / 1e6);
  }
}

int main() {
  nvshmem_init();
  const int me = nvshmem_my_pe(), pes = nvshmem_n_pes(), peer = pes > 1 ? 1 : 0;
  int devices = 0;
  CHECK(cudaGetDeviceCount(&devices));
  CHECK(cudaSetDevice(nvshmem_team_my_pe(NVSHMEMX_TEAM_NODE) % devices));
  cudaStream_t stream;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));

  char* dest = static_cast<char*>(nvshmem_calloc(kBytesMax, 1));
  char* source = static_cast<char*>(nvshmem_calloc(kBytesMax, 1));
  uint64_t* words = static_cast<uint64_t*>(nvshmem_calloc(2, sizeof(uint64_t)));
  require(dest && source && words, "nvshmem_calloc", "out of symmetric memory");
  nvshmem_barrier_all();

  if (me == 0) {
    std::printf("latency: %d PEs, from PE 0 to PE %d\n", pes, peer);
    measure_host(dest, source, peer);
  }
  nvshmem_barrier_all();

  // All PEs together. The first launch warms up, and leaves the signal where the second one starts: at zero again.
  uint64_t *word = words, *signal = words + 1, rounds = 0;
  void* arguments[] = {&word, &signal, &rounds};
  const auto play = [&](uint64_t count) {
    rounds = count;
    CHECK(cudaMemsetAsync(signal, 0, sizeof *signal, stream));
    nvshmemx_barrier_all_on_stream(stream);
    return time_stream(stream,
                       [&] { CHECK(nvshmemx_collective_launch((const void*)ping_pong, 1, 1, arguments, 0, stream)); });
  };
  play(10);
  const double round_trip = play(500) / 500;
  const auto barriers = [&](int count) {
    return time_stream(stream, [&] {
      for (int i = 0; i < count; ++i) nvshmemx_barrier_all_on_stream(stream);
    });
  };
  barriers(10);
  const double barrier = barriers(200) / 200;
  if (me == 0) {
    print_time("put with signal there and back, kernel to kernel", round_trip);
    print_time("barrier of all PEs, on a stream", barrier);
    measure_bandwidth(dest, source, peer, stream);
  }
  nvshmem_barrier_all();
  uint64_t last = 500;
  CHECK(cudaMemcpy(&last, signal, sizeof last, cudaMemcpyDeviceToHost));
  const bool good = me > 1 || last == 500;  // the last round came through
  if (!good) std::printf("PE %d: the last signal is %llu instead of 500, WRONG\n", me, (unsigned long long)last);

  nvshmem_free(words);
  nvshmem_free(source);
  nvshmem_free(dest);
  CHECK(cudaStreamDestroy(stream));
  nvshmem_finalize();
  return good ? 0 : 1;
}
