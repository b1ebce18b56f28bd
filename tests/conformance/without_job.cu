// Calls before init and after finalize: nothing crashes, and what answers says that there is no job.
#include "harness.hpp"

using namespace conformance;

namespace {

/// Everything that can be called is called; what answers must answer that there is nothing. Mistakes: how many.
int call_without_job(const char* when) {
  Silence silence;
  FILE* messages = stdout;
  int wrong = 0;
  const auto want = [&](bool good, const char* what) {
    if (!good) std::fprintf(messages, "FAIL without_job.%s: %s\n", when, what), ++wrong;
  };
  uint64_t word = 0;
  int to[4] = {1, 2, 3, 4}, from[4] = {5, 6, 7, 8};
  nvshmem_team_t team = 99;
  want(nvshmem_my_pe() == -1 && nvshmem_n_pes() == -1, "my_pe and n_pes are -1");
  want(nvshmemx_init_status() == NVSHMEM_STATUS_NOT_INITIALIZED, "init_status");
  want(nvshmem_malloc(64) == nullptr && nvshmem_calloc(1, 64) == nullptr && nvshmem_align(64, 64) == nullptr,
       "memory is null");
  want(std::strlen(causeway_last_error()) > 0, "last error of malloc");
  nvshmem_free(nullptr);
  nvshmem_free(to);
  want(nvshmem_ptr(to, 0) == nullptr, "ptr is null");
  want(nvshmem_team_my_pe(NVSHMEM_TEAM_WORLD) == -1 && nvshmem_team_n_pes(NVSHMEM_TEAM_WORLD) == -1,
       "team queries are -1");
  want(nvshmem_team_translate_pe(NVSHMEM_TEAM_WORLD, 0, NVSHMEM_TEAM_WORLD) == -1, "translation is -1");
  want(nvshmem_team_split_strided(NVSHMEM_TEAM_WORLD, 0, 1, 1, nullptr, 0, &team) != 0 && team == NVSHMEM_TEAM_INVALID,
       "split");
  nvshmem_team_destroy(NVSHMEM_TEAM_WORLD);
  want(nvshmem_barrier(NVSHMEM_TEAM_WORLD) != 0 && nvshmem_team_sync(NVSHMEM_TEAM_WORLD) != 0,
       "status of barrier and sync");
  nvshmem_barrier_all();
  nvshmem_sync_all();
  nvshmem_fence();
  nvshmem_quiet();
  nvshmem_int_p(to, 9, 0);
  nvshmem_int_put(to, from, 4, 0);
  nvshmem_putmem_signal(to, from, 4, &word, 1, NVSHMEM_SIGNAL_SET, 0);
  nvshmem_int_get(to, from, 4, 0);
  nvshmem_int_g(from, 0);
  nvshmemx_signal_op(&word, 1, NVSHMEM_SIGNAL_SET, 0);
  nvshmem_signal_wait_until(&word, NVSHMEM_CMP_EQ, 5);
  nvshmem_int_wait_until(to, NVSHMEM_CMP_EQ, 5);
  nvshmem_int_test(to, NVSHMEM_CMP_EQ, 5);
  want(nvshmem_int_sum_reduce(NVSHMEM_TEAM_WORLD, to, from, 1) != 0, "status of sum_reduce");
  nvshmemx_putmem_on_stream(to, from, 4, 0, nullptr);
  nvshmemx_quiet_on_stream(nullptr);
  nvshmemx_barrier_all_on_stream(nullptr);
  want(nvshmemx_int_broadcast_on_stream(NVSHMEM_TEAM_WORLD, to, from, 1, 0, nullptr) != 0,
       "status of broadcast_on_stream");
  want(to[0] == 1 && to[1] == 2 && to[2] == 3 && to[3] == 4 && word == 0, "memory is untouched");
  nvshmem_finalize();
  want(nvshmemx_init_status() == NVSHMEM_STATUS_NOT_INITIALIZED, "init_status after a finalize too many");
  return wrong;
}

}  // namespace

int main(int argc, char** argv) {
  const int before = call_without_job("before init");
  Suite suite(argc, argv);
  suite.init();
  suite.family("without_job.before init", 1, [&](Random&, int) { suite.equal(before, 0, "mistakes before init"); });
  const int status = suite.finish();
  const int after = call_without_job("after finalize");  // no job to tell the others by: each PE has its own status
  return status || after ? 1 : 0;
}
