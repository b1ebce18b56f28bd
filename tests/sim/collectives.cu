// All collectives, back to back on the same buffers with nothing between them: by a block over the world, by a second
// block over the PEs in reverse order, by a warp and by a thread. Who reads a stale, a torn or a later value says so.
// Meant for `causeway run --seed`.
#include <cuda_runtime.h>
#include <nvshmem.h>
#include <nvshmemx.h>

#include <cstdio>

constexpr int kRounds = 3, kThreads = 40, kMost = 9, kPesMax = 8;

/// What one block works with: a team and buffers of kMost elements a member.
struct Bench {
  nvshmem_team_t team;
  int *source, *dest;
  double2 *pairs, *greatest;
  int* wrong;
};

__device__ int value(int round, int step, int member, int i) { return round * 7919 + step * 263 + member * 31 + i * 3; }

__device__ void fill(int* to, int count, int round, int step, int me) {
  for (int i = int(threadIdx.x); i < count; i += kThreads) to[i] = value(round, step, me, i);
  __syncthreads();
}

/// expected(i) for each of `count` elements.
template <class Expected>
__device__ void check(const Bench& b, const int* got, int count, int step, Expected expected) {
  for (int i = int(threadIdx.x); i < count; i += kThreads)
    if (got[i] != expected(i)) {
      if (atomicAdd(b.wrong, 1) == 0)
        printf("PE %d, step %d, element %d: %d, expected %d\n", nvshmem_my_pe(), step, i, got[i], expected(i));
    }
  __syncthreads();
}

__device__ void move(const Bench& b, int round) {
  const int me = nvshmem_team_my_pe(b.team), n = nvshmem_team_n_pes(b.team), count = 1 + (round * 5 + 3) % kMost;
  for (int root = 0; root < n; ++root) {  // in a loop: nothing but the broadcasts themselves holds a fast root back
    fill(b.source, count, round, root, me);
    nvshmemx_int_broadcast_block(b.team, b.dest, b.source, size_t(count), root);
    check(b, b.dest, count, root, [=](int i) { return value(round, root, root, i); });
  }
  fill(b.source, count, round, 10, me);
  nvshmemx_int_fcollect_block(b.team, b.dest, b.source, size_t(count));
  check(b, b.dest, count * n, 10, [=](int i) { return value(round, 10, i / count, i % count); });

  for (int again = 0; again < 3; ++again) {  // members give 1 + (member + round + again) % 4 elements
    int total = 0;
    for (int member = 0; member < n; ++member) total += 1 + (member + round + again) % 4;
    fill(b.source, 1 + (me + round + again) % 4, round, 11 + again, me);
    nvshmemx_int_collect_block(b.team, b.dest, b.source, size_t(1 + (me + round + again) % 4));
    check(b, b.dest, total, 11, [=](int i) {
      int member = 0;
      while (i >= 1 + (member + round + again) % 4) i -= 1 + (member++ + round + again) % 4;
      return value(round, 11 + again, member, i);
    });
  }
  fill(b.source, count * n, round, 14, me);
  nvshmemx_int_alltoall_block(b.team, b.dest, b.source, size_t(count));
  check(b, b.dest, count * n, 14, [=](int i) { return value(round, 14, i / count, me * count + i % count); });
  const int few = 2;
  fill(b.source, few * n * 2, round, 15, me);
  nvshmemx_int_alltoalls_block(b.team, b.dest, b.source, 1, 2, few);
  check(b, b.dest, few * n, 15, [=](int i) { return value(round, 15, i / few, (me * few + i % few) * 2); });
}

__device__ void combine(const Bench& b, int round) {
  const int me = nvshmem_team_my_pe(b.team), n = nvshmem_team_n_pes(b.team), count = 1 + (round * 5 + 6) % kMost;
  fill(b.source, count, round, 20, me);
  nvshmemx_int_sum_reduce_block(b.team, b.dest, b.source, size_t(count));
  check(b, b.dest, count, 20, [=](int i) {
    int sum = 0;
    for (int member = 0; member < n; ++member) sum += value(round, 20, member, i);
    return sum;
  });
  fill(b.dest, count, round, 21, me);  // in place
  nvshmemx_int_max_reduce_block(b.team, b.dest, b.dest, size_t(count));
  check(b, b.dest, count, 21, [=](int i) { return value(round, 21, n - 1, i); });

  const auto part = [=](int step) {
    return [=](int i) {
      int sum = 0;
      for (int member = 0; member < n; ++member) sum += value(round, step, member, me * count + i);
      return sum;
    };
  };
  fill(b.source, count * n, round, 22, me);
  nvshmemx_int_sum_reducescatter_block(b.team, b.dest, b.source, size_t(count));
  check(b, b.dest, count, 22, part(22));
  fill(b.source, count * n, round, 23, me);  // in place
  nvshmemx_int_sum_reducescatter_block(b.team, b.source, b.source, size_t(count));
  check(b, b.source, count, 23, part(23));

  const auto before = [=](int step, int members) {
    return [=](int i) {
      int sum = 0;
      for (int member = 0; member < members; ++member) sum += value(round, step, member, i);
      return sum;
    };
  };
  fill(b.source, count, round, 24, me);  // in place
  nvshmemx_int_sum_inscan_block(b.team, b.source, b.source, size_t(count));
  check(b, b.source, count, 24, before(24, me + 1));
  fill(b.source, count, round, 25, me);
  nvshmemx_int_sum_exscan_block(b.team, b.dest, b.source, size_t(count));
  check(b, b.dest, count, 25, before(25, me));

  if (threadIdx.x < 2) b.pairs[threadIdx.x] = make_double2(double((me * 5 + round) % 3), double(me));
  __syncthreads();
  nvshmemx_double2_maxloc_reduce_block(b.team, b.greatest, b.pairs, 2);
  double2 best = make_double2(-1, -1);
  for (int member = 0; member < n; ++member)
    if ((member * 5 + round) % 3 > best.x) best = make_double2(double((member * 5 + round) % 3), double(member));
  if (threadIdx.x < 2 && (b.greatest[threadIdx.x].x != best.x || b.greatest[threadIdx.x].y != best.y))
    atomicAdd(b.wrong, 1);
  __syncthreads();
}

/// The same operations by a warp and by one thread.
__device__ void smaller_groups(const Bench& b, int round) {
  const int me = nvshmem_team_my_pe(b.team), n = nvshmem_team_n_pes(b.team);
  fill(b.source, kMost, round, 30, me);
  if (threadIdx.x < 32) nvshmemx_int32_xor_reduce_warp(b.team, b.dest, b.source, kMost);
  __syncthreads();
  check(b, b.dest, kMost, 30, [=](int i) {
    int all = 0;
    for (int member = 0; member < n; ++member) all ^= value(round, 30, member, i);
    return all;
  });
  fill(b.source, kMost, round, 31, me);
  if (threadIdx.x == 3) nvshmem_int_fcollect(b.team, b.dest, b.source, kMost);
  __syncthreads();
  check(b, b.dest, kMost * n, 31, [=](int i) { return value(round, 31, i / kMost, i % kMost); });
}

__global__ void collect_often(Bench world, Bench reversed) {
  const Bench& b = blockIdx.x == 0 ? world : reversed;
  for (int round = 1; round <= kRounds; ++round) {
    move(b, round);
    combine(b, round);
    smaller_groups(b, round);
  }
}

static Bench make_bench(nvshmem_team_t team) {
  const size_t elements = size_t(4 * kMost * kPesMax);
  Bench b{};
  b.team = team;
  b.source = static_cast<int*>(nvshmem_calloc(elements, sizeof(int)));
  b.dest = static_cast<int*>(nvshmem_calloc(elements, sizeof(int)));
  b.pairs = static_cast<double2*>(nvshmem_calloc(2, sizeof(double2)));
  b.greatest = static_cast<double2*>(nvshmem_calloc(2, sizeof(double2)));
  b.wrong = static_cast<int*>(nvshmem_calloc(1, sizeof(int)));
  return b;
}
static int free_bench(const Bench& b) {
  int found = -1;
  cudaMemcpy(&found, b.wrong, sizeof found, cudaMemcpyDeviceToHost);
  if (found != 0) std::printf("PE %d: %d wrong elements\n", nvshmem_my_pe(), found);
  nvshmem_barrier_all();
  nvshmem_free(b.wrong);
  nvshmem_free(b.greatest);
  nvshmem_free(b.pairs);
  nvshmem_free(b.dest);
  nvshmem_free(b.source);
  return found;
}

int main() {
  nvshmem_init();
  const int pes = nvshmem_n_pes();
  if (pes > kPesMax) return 2;
  nvshmem_team_t reversed = NVSHMEM_TEAM_INVALID;
  nvshmem_team_split_strided(NVSHMEM_TEAM_WORLD, pes - 1, -1, pes, nullptr, 0, &reversed);
  const Bench one = make_bench(NVSHMEM_TEAM_WORLD), two = make_bench(reversed);
  collect_often<<<2, kThreads>>>(one, two);
  cudaDeviceSynchronize();
  const int wrong = free_bench(one) | free_bench(two);
  nvshmem_team_destroy(reversed);
  nvshmem_finalize();
  return wrong != 0;
}
