// Host operations on the CPU machine: one source for Causeway and for an OpenSHMEM peer (compile with
// -DPEER_OPENSHMEM). Prints one line an operation: name, bytes, nanoseconds (the best of several rounds).
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <vector>

#if defined(PEER_OPENSHMEM)
#include <shmem.h>
#define API(name) shmem_##name
#else
#include <cuda_runtime.h>
#include <nvshmem.h>
#define API(name) nvshmem_##name
#endif

namespace {

double now_ns() {
  return double(std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1));
}

/// Nanoseconds a call: the least of `rounds` averages over `calls`.
template <class Operation>
double best(int rounds, int calls, Operation operation) {
  double least = 1e18;
  for (int round = 0; round < rounds; ++round) {
    const double start = now_ns();
    for (int i = 0; i < calls; ++i) operation(i);
    least = std::min(least, (now_ns() - start) / calls);
  }
  return least;
}

/// Keeps what was read.
volatile long sink;

}  // namespace

int main() {
  API(init)();
  const int me = API(my_pe)(), pes = API(n_pes)(), peer = (me + 1) % pes;
  constexpr size_t kLarge = 1 << 20;
  long* words = static_cast<long*>(API(malloc)(4096));
  char* large = static_cast<char*>(API(malloc)(kLarge));
  std::vector<char> source(kLarge, 'x'), copied(kLarge);
  std::memset(words, 0, 4096);
  API(barrier_all)();

  if (me == 0) {
    const long value = 7;
    std::printf("put_quiet 8 %.2f\n", best(20, 100000, [&](int) {
                  API(putmem)(words, &value, 8, peer);
                  API(quiet)();
                }));
    std::printf("p 8 %.2f\n", best(20, 100000, [&](int i) { API(long_p)(words + 8, i, peer); }));
    API(quiet)();
    std::printf("g 8 %.2f\n", best(20, 100000, [&](int) { sink = API(long_g)(words, peer); }));
    std::printf("fetch_add 8 %.2f\n",
                best(20, 100000, [&](int i) { sink = API(long_atomic_fetch_add)(words, i, peer); }));
    std::printf("put 1048576 %.2f\n", best(40, 20, [&](int) {
                  API(putmem)(large, source.data(), kLarge, peer);
                  API(quiet)();
                }));
    std::printf("memcpy 1048576 %.2f\n", best(40, 20, [&](int) {
                  std::memcpy(copied.data(), source.data(), kLarge);
                  asm volatile("" ::"r"(copied.data()) : "memory");
                }));
  }
  API(barrier_all)();

  // Ping-pong by p and a volatile read, one way; PEs 0 and 1.
  if (pes >= 2) {
    volatile long* flag = words + 64;
    constexpr int kTrips = 20000;
    double least = 1e18;
    long turn = 0;
    for (int round = 0; round < 10; ++round) {
      API(barrier_all)();
      const double start = now_ns();
      for (int i = 0; i < kTrips && me < 2; ++i) {
        ++turn;
        if (me == 0) API(long_p)(words + 64, turn, 1);
        while (*flag < turn) {
        }
        if (me == 1) API(long_p)(words + 64, turn, 0);
      }
      least = std::min(least, (now_ns() - start) / kTrips / 2);
    }
    if (me == 0) std::printf("p_one_way 8 %.2f\n", least);
  }
  API(barrier_all)();
  const double barrier = best(10, 2000, [&](int) { API(barrier_all)(); });
  if (me == 0) std::printf("barrier_all 0 %.2f\n", barrier);
  API(finalize)();
}
