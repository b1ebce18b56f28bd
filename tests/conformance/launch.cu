// nvshmemx_collective_launch: the grid that is asked for, and the largest one where it is 0, however that is written.
#include "harness.hpp"

using namespace conformance;

namespace {

constexpr int kThreads = 64;

__global__ void note_grid(unsigned* seen) {
  if (threadIdx.x != 0 || blockIdx.x != gridDim.x - 1 || blockIdx.y != gridDim.y - 1 || blockIdx.z != gridDim.z - 1)
    return;
  seen[0] = gridDim.x, seen[1] = gridDim.y, seen[2] = gridDim.z;
}

struct Grid {
  const char* what;
  dim3 given;
  bool largest;
};

void run(Suite& suite, const Grid& grid, unsigned* seen) {
  const auto kernel = reinterpret_cast<const void*>(note_grid);
  int most = 0;
  CHECK(nvshmemx_collective_launch_query_gridsize(kernel, dim3(kThreads), nullptr, 0, &most));
  CHECK(cudaMemsetAsync(seen, 0, 3 * sizeof *seen, suite.stream));
  void* arguments[] = {&seen};
  suite.equal(nvshmemx_collective_launch(kernel, grid.given, dim3(kThreads), arguments, 0, suite.stream), 0, grid.what);
  suite.synchronize();
  unsigned got[3];
  copy(got, seen, sizeof got, suite.stream);
  suite.equal(got[0], grid.largest ? unsigned(most) : grid.given.x, grid.what);
  suite.equal(got[1], grid.largest ? 1 : grid.given.y, grid.what);
  suite.equal(got[2], grid.largest ? 1 : grid.given.z, grid.what);
}

/// A grid that has no blocks in another way is an error.
void run_bad(Suite& suite, unsigned* seen) {
  void* arguments[] = {&seen};
  for (const dim3 grid : {dim3(2, 0, 1), dim3(0, 2, 1), dim3(1, 1, 0)}) {
    const Silence silence;
    if (nvshmemx_collective_launch(reinterpret_cast<const void*>(note_grid), grid, dim3(kThreads), arguments, 0,
                                   suite.stream) == 0)
      suite.wrong("a grid of %u, %u, %u: status 0", grid.x, grid.y, grid.z);
  }
}

}  // namespace

int main(int argc, char** argv) {
  Suite suite(argc, argv);
  suite.init();
  unsigned* seen = nullptr;
  CHECK(cudaMalloc(&seen, 3 * sizeof *seen));
  const Grid grids[] = {{"0", 0, true},  {"dim3(0)", dim3(0), true},  {"dim3(0, 0, 0)", dim3(0, 0, 0), true},
                        {"1", 1, false}, {"dim3(2)", dim3(2), false}, {"dim3(2, 3, 2)", dim3(2, 3, 2), false}};
  suite.family("collective launch", int(sizeof grids / sizeof *grids),
               [&](Random&, int index) { run(suite, grids[index], seen); });
  suite.family("collective launch of bad grids", 1, [&](Random&, int) { run_bad(suite, seen); });
  CHECK(cudaFree(seen));
  return suite.finish();
}
