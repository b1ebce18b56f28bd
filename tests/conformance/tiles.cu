// Tile collectives: blocks reduce or gather tiles of a matrix, each its own, in every scope; elements past the boundary
// and around the tiles stay as they are. Values are small whole numbers, so sums are exact in every type.
#include "harness.hpp"

using namespace conformance;
using nvshmemx::make_layout;
using nvshmemx::make_shape;
using nvshmemx::make_stride;
using nvshmemx::Tensor;

namespace {

enum class What { all, all_by_root, root, gather };
enum class Operator { sum, min, max };
enum class Group { thread, warp, warpgroup, block };
const char* const kGroups[] = {"thread", "warp", "warpgroup", "block"};

constexpr int kRowsMax = 40, kColumnsMax = 60, kTilesMax = 4;
constexpr auto kPull = nvshmemx::NVLS_ONE_SHOT_PULL_NBI;
constexpr auto kPush = nvshmemx::NVLS_TWO_SHOT_PUSH_NBI;

struct Case {
  What what;
  Operator op;
  int root, rows, columns;      // of the matrix
  int tile_rows, tile_columns;  // of a tile; block b has the tile that begins at row first_row, column b * tile_columns
  int first_row, tiles;
  bool by_columns;  // the layout: neighbours in a column lie side by side
};

template <class T>
struct Matrices {
  T *source, *dest;
  int* bad;
};

#define CALL(op, suffix)                                                                                          \
  (c.what == What::all                                                                                            \
       ? nvshmemx::tile_##op##_allreduce##suffix<Src, Dst, Coordinates, kPull>(team, source, dest, start, end, 0) \
   : c.what == What::all_by_root ? nvshmemx::tile_##op##_allreduce##suffix<Src, Dst, Coordinates, kPush>(         \
                                       team, source, dest, start, end, c.root, 0)                                 \
                                 : nvshmemx::tile_##op##_reduce##suffix<Src, Dst, Coordinates, kPull>(            \
                                       team, source, dest, start, end, c.root, 0))
#define CALL_SCOPE(suffix)                                                                                         \
  status = c.what == What::gather                                                                                  \
               ? nvshmemx::tile_allgather##suffix<Src, Dst, Coordinates, kPush>(team, source, dest, start, end, 0) \
           : c.op == Operator::sum ? CALL(sum, suffix)                                                             \
           : c.op == Operator::min ? CALL(min, suffix)                                                             \
                                   : CALL(max, suffix);                                                            \
  status |= nvshmemx::tile_collective_wait##suffix<kPull>(team, 0);

/// One group a block does the block's tile.
template <class T>
__global__ void reduce_tiles(Case c, Group group, nvshmem_team_t team, Matrices<T> m) {
  const int column = int(blockIdx.x) * c.tile_columns;
  const int row_stride = c.by_columns ? 1 : c.columns, column_stride = c.by_columns ? c.rows : 1;
  const int offset = c.first_row * row_stride + column * column_stride;
  const auto layout = make_layout(make_shape(c.tile_rows, c.tile_columns), make_stride(row_stride, column_stride));
  using Layout = typename std::remove_const<decltype(layout)>::type;
  using Src = Tensor<T, Layout>;
  using Dst = Tensor<T, Layout>;
  Src source(m.source + offset, layout);
  Dst dest(m.dest + offset, layout);
  const auto start = make_shape(c.first_row, column), end = make_shape(c.rows, c.columns);
  using Coordinates = typename std::remove_const<decltype(start)>::type;
  int status = 0;
  if (group == Group::thread) {
    if (threadIdx.x == 0) {
      CALL_SCOPE()
    }
  } else if (group == Group::warp) {
    if (threadIdx.x < 32) {
      CALL_SCOPE(_warp)
    }
  } else if (group == Group::warpgroup) {
    if (threadIdx.x >= 128) {
      CALL_SCOPE(_warpgroup)
    }
  } else {
    CALL_SCOPE(_block)
  }
  if (status != 0) atomicAdd(m.bad, 1);
}

/// A warpgroup's barrier, by both warpgroups of two blocks in turn: who leaves has seen everybody's number.
__global__ void warpgroup_barrier(int* numbers, int me, int pes, int* bad) {
  if (blockIdx.x != 0 || threadIdx.x < 128) return;
  for (int round = 1; round <= 5; ++round) {
    if (threadIdx.x == 200)
      for (int pe = 0; pe < pes; ++pe) nvshmem_int_p(numbers + me, round, pe);
    if (nvshmemx_barrier_warpgroup(NVSHMEM_TEAM_WORLD) != 0) atomicAdd(bad, 1);
    for (int pe = int(threadIdx.x) - 128; pe < pes; pe += 128)
      if (*static_cast<volatile int*>(numbers + pe) < round) atomicAdd(bad, 1);
    nvshmemx_barrier_warpgroup(NVSHMEM_TEAM_WORLD);
  }
}

int value_of(uint64_t key, int pe, int i) { return int(mix(key + uint64_t(pe) * 100000 + uint64_t(i)) % 13) - 6; }

template <class T>
void run_case(Suite& suite, Random& random, Group group, Matrices<T> m) {
  Case c{};
  c.what = What(random.between(0, 3)), c.op = Operator(random.between(0, 2));
  c.root = random.between(0, suite.pes - 1);
  c.tiles = random.between(1, kTilesMax);
  c.tile_rows = random.between(1, 12), c.tile_columns = random.between(1, 14);
  c.first_row = random.between(0, 5);
  c.by_columns = random.chance(50);
  c.rows = random.chance(50) ? c.first_row + c.tile_rows : random.between(c.first_row, kRowsMax);
  c.columns = random.chance(50) ? c.tiles * c.tile_columns : random.between(c.tile_columns, kColumnsMax);
  // A gathered tile lies in one piece after the other, so a gathered matrix is one tile.
  if (c.what == What::gather) {
    c.tiles = 1, c.first_row = 0;
    c.rows = random.between(1, c.tile_rows + 3), c.columns = random.between(1, c.tile_columns + 3);
    c.tile_rows = std::max(1, c.rows - random.between(0, 2)), c.tile_columns = c.columns;
    if (c.by_columns) c.tile_rows = c.rows;
  }
  const int count = kRowsMax * kColumnsMax;
  const uint64_t key = random.word();
  std::vector<T> source(static_cast<size_t>(count)), expected(static_cast<size_t>(count)), got(expected);
  for (int i = 0; i < count; ++i)
    source[size_t(i)] = T(float(value_of(key, suite.me, i))), expected[size_t(i)] = T(99.0f);
  const size_t bytes = sizeof(T) * size_t(count);
  copy(m.source, source.data(), bytes, suite.stream);
  copy(m.dest, expected.data(), bytes, suite.stream);
  CHECK(cudaMemsetAsync(m.bad, 0, sizeof(int), suite.stream));
  nvshmemx_barrier_all_on_stream(suite.stream);
  reduce_tiles<T><<<c.tiles, 256, 0, suite.stream>>>(c, group, NVSHMEM_TEAM_WORLD, m);
  CHECK(cudaGetLastError());
  nvshmemx_barrier_all_on_stream(suite.stream);
  suite.synchronize();

  for (int tile = 0; tile < c.tiles; ++tile)
    for (int r = 0; r < c.tile_rows; ++r)
      for (int k = 0; k < c.tile_columns; ++k) {
        const int row = c.first_row + r, column = tile * c.tile_columns + k;
        if (row >= c.rows || column >= c.columns) continue;
        const int at = c.by_columns ? row + column * c.rows : row * c.columns + column;
        if (c.what == What::gather) {
          for (int pe = 0; pe < suite.pes; ++pe) {
            const int offset = at + pe * c.tile_rows * c.tile_columns;
            if (offset < count) expected[size_t(offset)] = T(float(value_of(key, pe, at)));
          }
          continue;
        }
        int result = value_of(key, 0, at);
        for (int pe = 1; pe < suite.pes; ++pe) {
          const int v = value_of(key, pe, at);
          result = c.op == Operator::sum   ? result + v
                   : c.op == Operator::min ? std::min(result, v)
                                           : std::max(result, v);
        }
        if (c.what != What::root || c.root == suite.me) expected[size_t(at)] = T(float(result));
      }
  copy(got.data(), m.dest, bytes, suite.stream);
  suite.same(got.data(), expected.data(), bytes, "dest");
  int bad = 0;
  copy(&bad, m.bad, sizeof bad, suite.stream);
  suite.equal(bad, 0, "calls with a status");
}

template <class T>
void run_type(Suite& suite, const char* type) {
  Matrices<T> m{};
  // A gather may reach past the matrix by a tile for each PE.
  const size_t count = size_t(kRowsMax) * kColumnsMax + size_t(suite.pes) * 400;
  CHECK(m.source = static_cast<T*>(nvshmem_malloc(count * sizeof(T))));
  CHECK(m.dest = static_cast<T*>(nvshmem_malloc(count * sizeof(T))));
  CHECK(cudaMalloc(&m.bad, sizeof(int)));
  for (Group group : {Group::thread, Group::warp, Group::warpgroup, Group::block})
    suite.family(std::string("tiles ") + type + " " + kGroups[int(group)], suite.cases,
                 [&](Random& random, int) { run_case<T>(suite, random, group, m); });
  CHECK(cudaFree(m.bad));
  nvshmem_free(m.dest);
  nvshmem_free(m.source);
}

void run_barrier(Suite& suite) {
  int* numbers = static_cast<int*>(nvshmem_calloc(size_t(suite.pes), sizeof(int)));
  int* bad = static_cast<int*>(nvshmem_calloc(1, sizeof(int)));
  warpgroup_barrier<<<2, 256, 0, suite.stream>>>(numbers, suite.me, suite.pes, bad);
  CHECK(cudaGetLastError());
  suite.synchronize();
  int count = 0;
  copy(&count, bad, sizeof count, suite.stream);
  suite.equal(count, 0, "numbers not seen after a warpgroup's barrier");
  nvshmem_free(bad);
  nvshmem_free(numbers);
}

}  // namespace

int main(int argc, char** argv) {
  Suite suite(argc, argv);
  suite.init();
  run_type<float>(suite, "float");
  run_type<int>(suite, "int");
  run_type<half>(suite, "half");
  run_type<__nv_bfloat16>(suite, "bfloat16");
  run_type<double>(suite, "double");
  suite.family("barrier_warpgroup", std::max(1, suite.cases / 5), [&](Random&, int) { run_barrier(suite); });
  return suite.finish();
}
