// A job of many PEs starts, makes a team, moves data and ends; what it takes of memory grows with the PEs, not with
// their square.
#include "harness.hpp"

using namespace conformance;

namespace {

/// Most that the process has had in memory, in KiB; shared memory counts where it has touched it. 0: not known.
long peak_kib() {
  std::FILE* status = std::fopen("/proc/self/status", "re");
  long peak = 0;
  for (char line[256]; status && std::fgets(line, sizeof line, status);) std::sscanf(line, "VmHWM: %ld", &peak);
  if (status) std::fclose(status);
  return peak;
}

__global__ void pass_on(int* inbox) { nvshmem_int_p(inbox, nvshmem_my_pe(), (nvshmem_my_pe() + 1) % nvshmem_n_pes()); }

void run(Suite& suite) {
  int* inbox = static_cast<int*>(nvshmem_calloc(1, sizeof(int)));
  CHECK(inbox);
  pass_on<<<1, 1, 0, suite.stream>>>(inbox);
  CHECK(cudaGetLastError());
  nvshmemx_barrier_all_on_stream(suite.stream);
  int got = -1;
  copy(&got, inbox, sizeof got, suite.stream);
  suite.equal(got, (suite.me + suite.pes - 1) % suite.pes, "the left neighbour's number");

  nvshmem_team_t half = NVSHMEM_TEAM_INVALID;
  const int members = (suite.pes + 1) / 2;
  CHECK(nvshmem_team_split_strided(NVSHMEM_TEAM_WORLD, 0, 2, members, nullptr, 0, &half));
  if (suite.me % 2 == 0) {
    suite.equal(nvshmem_team_n_pes(half), members, "members of every second PE");
    CHECK(nvshmem_team_sync(half));
    nvshmem_team_destroy(half);
  }
  nvshmem_barrier_all();
  nvshmem_free(inbox);
}

}  // namespace

int main(int argc, char** argv) {
  Suite suite(argc, argv);
  suite.init();
  suite.family("many PEs", 1, [&](Random&, int) { run(suite); });
#ifdef CAUSEWAY_CPU
  // (A process with all PEs in it, as threads, holds all their memory; one with a single PE holds its own.)
  const long limit_kib = (64 << 10) + 3 * 1024 * long(suite.pes);
  if (!kSanitized && peak_kib() > limit_kib)
    suite.wrong("the process has held %ld KiB with %d PEs: at most %ld", peak_kib(), suite.pes, limit_kib);
#endif
  return suite.finish();
}
