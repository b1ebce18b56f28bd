// Misuse: a call with a bad argument does nothing, says so by its status where it has one, and leaves a text that names
// the argument in causeway_last_error().
#include "misuse.hpp"

using namespace conformance;

namespace {

using Bench = MisuseBench;

// ---------------------------------------------------------------- data movement

void run_bad_pe(Bench& b, Random& random) {
  b.start(random);
  cudaStream_t s = b.suite.stream;
  auto* to = reinterpret_cast<int*>(b.target);
  auto* from = reinterpret_cast<int*>(b.source);
  for (int pe : {-1, b.suite.pes, 1 << 30, -(1 << 30)}) {
    b.expect("int_p", "pe", [&] { nvshmem_int_p(to, 5, pe); });
    b.expect("int_p_on_stream", "pe", [&] { nvshmemx_int_p_on_stream(to, 5, pe, s); });
    b.expect("int_g", "pe", [&] { b.suite.equal(nvshmem_int_g(from, pe), 0, "value of a g that was refused"); });
    b.expect("int_g_on_stream", "pe",
             [&] { b.suite.equal(nvshmemx_int_g_on_stream(from, pe, s), 0, "value of a g that was refused"); });
    b.expect("int_put", "pe", [&] { nvshmem_int_put(to, from, 3, pe); });
    b.expect("int_put_nbi", "pe", [&] { nvshmem_int_put_nbi(to, from, 3, pe); });
    b.expect("putmem", "pe", [&] { nvshmem_putmem(to, from, 3, pe); });
    b.expect("put64", "pe", [&] { nvshmem_put64(to, from, 3, pe); });
    b.expect("putmem_on_stream", "pe", [&] { nvshmemx_putmem_on_stream(to, from, 3, pe, s); });
    b.expect("int_get", "pe", [&] { nvshmem_int_get(to, from, 3, pe); });
    b.expect("getmem_nbi", "pe", [&] { nvshmem_getmem_nbi(to, from, 3, pe); });
    b.expect("getmem_on_stream", "pe", [&] { nvshmemx_getmem_on_stream(to, from, 3, pe, s); });
    b.expect("putmem_signal", "pe", [&] { nvshmem_putmem_signal(to, from, 3, b.word, 1, NVSHMEM_SIGNAL_SET, pe); });
    b.expect("putmem_signal_on_stream", "pe",
             [&] { nvshmemx_putmem_signal_on_stream(to, from, 3, b.word, 1, NVSHMEM_SIGNAL_ADD, pe, s); });
    b.expect("signal_op", "pe", [&] { nvshmemx_signal_op(b.word, 1, NVSHMEM_SIGNAL_SET, pe); });
    b.expect("signal_op_on_stream", "pe", [&] { nvshmemx_signal_op_on_stream(b.word, 1, NVSHMEM_SIGNAL_SET, pe, s); });
  }
  nvshmem_barrier_all();
  b.check_untouched("bad pe");
}

void run_bad_addresses(Bench& b, Random& random) {
  b.start(random);
  cudaStream_t s = b.suite.stream;
  const int pe = b.another_pe(random);
  auto* from = reinterpret_cast<int*>(b.source);
  auto* to = reinterpret_cast<int*>(b.target);
  int on_host[4] = {};
  for (char* address : b.not_symmetric(on_host, pe)) {
    auto* bad = reinterpret_cast<int*>(address);
    auto* bad_word = reinterpret_cast<uint64_t*>(bad);
    b.expect("int_p", "dest", [&] { nvshmem_int_p(bad, 5, pe); });
    b.expect("int_p_on_stream", "dest", [&] { nvshmemx_int_p_on_stream(bad, 5, pe, s); });
    b.expect("int_g", "source", [&] { nvshmem_int_g(bad, pe); });
    b.expect("int_g_on_stream", "source", [&] { nvshmemx_int_g_on_stream(bad, pe, s); });
    b.expect("int_put", "dest", [&] { nvshmem_int_put(bad, from, 2, pe); });
    b.expect("putmem_on_stream", "dest", [&] { nvshmemx_putmem_on_stream(bad, from, 2, pe, s); });
    b.expect("int_get", "source", [&] { nvshmem_int_get(to, bad, 2, pe); });
    b.expect("getmem_on_stream", "source", [&] { nvshmemx_getmem_on_stream(to, bad, 2, pe, s); });
    b.expect("putmem_signal", "dest", [&] { nvshmem_putmem_signal(bad, from, 2, b.word, 1, NVSHMEM_SIGNAL_SET, pe); });
    b.expect("putmem_signal", "sig_addr",
             [&] { nvshmem_putmem_signal(to, from, 2, bad_word, 1, NVSHMEM_SIGNAL_SET, pe); });
    b.expect("putmem_signal_on_stream", "dest",
             [&] { nvshmemx_putmem_signal_on_stream(bad, from, 2, b.word, 1, NVSHMEM_SIGNAL_SET, pe, s); });
    b.expect("putmem_signal_on_stream", "sig_addr",
             [&] { nvshmemx_putmem_signal_on_stream(to, from, 2, bad_word, 1, NVSHMEM_SIGNAL_SET, pe, s); });
    b.expect("signal_op", "sig_addr", [&] { nvshmemx_signal_op(bad_word, 1, NVSHMEM_SIGNAL_SET, pe); });
    b.expect("signal_op_on_stream", "sig_addr",
             [&] { nvshmemx_signal_op_on_stream(bad_word, 1, NVSHMEM_SIGNAL_ADD, pe, s); });
    b.expect("int_wait_until", "ivar", [&] { nvshmem_int_wait_until(bad, NVSHMEM_CMP_EQ, 123); });
    b.expect("int_wait_until_on_stream", "ivar",
             [&] { nvshmemx_int_wait_until_on_stream(bad, NVSHMEM_CMP_EQ, 123, s); });
    b.expect("int_test", "ivar", [&] { nvshmem_int_test(bad, NVSHMEM_CMP_EQ, 123); });
  }
  // Too long: the first byte is in the heap, the last is not.
  const size_t far = size_t{1} << 50;
  b.expect("putmem past the end", "dest", [&] { nvshmem_putmem(b.target, b.source, far, pe); });
  b.expect("putmem_on_stream past the end", "dest", [&] { nvshmemx_putmem_on_stream(b.target, b.source, far, pe, s); });
  b.expect("getmem past the end", "source", [&] { nvshmem_getmem(b.target, b.source, far, pe); });
  nvshmem_barrier_all();
  b.check_untouched("bad address");
}

/// A call that fails again reports it again, and says how much was asked for.
void run_repeated(Bench& b, Random& random) {
  b.start(random);
  const int pe = random.between(0, b.suite.pes - 1);
  const size_t far = (size_t{1} << 50) + size_t(random.below(1000));
  {
    Silence silence;
    for (int again = 0; again < 3; ++again) {
      const uint64_t before = causeway_error_count();
      nvshmem_putmem(b.target, b.source, far, pe);
      b.suite.equal(causeway_error_count(), before + 1, "errors after a bad call");
      const std::string text = causeway_last_error();
      if (!has_word(text, "dest") || !has_word(text, std::to_string(far)))
        b.suite.wrong("a put of %zu bytes: \"%s\"", far, text.c_str());
      nvshmem_putmem(b.target, b.target, 0, pe);
      b.suite.equal(causeway_error_count(), before + 1, "errors after a good call");
    }
  }
  nvshmem_barrier_all();
  b.check_untouched("repeated");
}

void run_misaligned(Bench& b, Random& random) {
  b.start(random);
  cudaStream_t s = b.suite.stream;
  const int pe = random.between(0, b.suite.pes - 1);
  auto* to = reinterpret_cast<int*>(b.target + random.between(1, 3));
  auto* word = reinterpret_cast<uint64_t*>(reinterpret_cast<char*>(b.word) + random.between(1, 7));
  b.expect("int_p", "dest", [&] { nvshmem_int_p(to, 5, pe); });
  b.expect("int_p_on_stream", "dest", [&] { nvshmemx_int_p_on_stream(to, 5, pe, s); });
  b.expect("int_g", "source", [&] { nvshmem_int_g(to, pe); });
  b.expect("int_g_on_stream", "source", [&] { nvshmemx_int_g_on_stream(to, pe, s); });
  b.expect("signal_op", "sig_addr", [&] { nvshmemx_signal_op(word, 1, NVSHMEM_SIGNAL_SET, pe); });
  b.expect("signal_op_on_stream", "sig_addr",
           [&] { nvshmemx_signal_op_on_stream(word, 1, NVSHMEM_SIGNAL_SET, pe, s); });
  b.expect("putmem_signal", "sig_addr",
           [&] { nvshmem_putmem_signal(b.target, b.source, 2, word, 1, NVSHMEM_SIGNAL_SET, pe); });
  b.expect("int_wait_until", "ivar", [&] { nvshmem_int_wait_until(to, NVSHMEM_CMP_EQ, 123); });
  b.expect("int_wait_until_on_stream", "ivar", [&] { nvshmemx_int_wait_until_on_stream(to, NVSHMEM_CMP_EQ, 123, s); });
  nvshmem_barrier_all();
  b.check_untouched("misaligned");
}

void run_bad_choices(Bench& b, Random& random) {
  b.start(random);
  cudaStream_t s = b.suite.stream;
  const int pe = random.between(0, b.suite.pes - 1);
  auto* variable = reinterpret_cast<int*>(b.word);
  for (int cmp : {-1, 6, 1 << 30}) {
    b.expect("int_wait_until", "cmp", [&] { nvshmem_int_wait_until(variable, cmp, 123); });
    b.expect("int_wait_until_on_stream", "cmp", [&] { nvshmemx_int_wait_until_on_stream(variable, cmp, 123, s); });
    b.expect("int_test", "cmp",
             [&] { b.suite.equal(nvshmem_int_test(variable, cmp, 123), 0, "test that was refused"); });
    b.expect("signal_wait_until", "cmp", [&] { nvshmem_signal_wait_until(b.word, cmp, 123); });
    b.expect("signal_wait_until_on_stream", "cmp", [&] { nvshmemx_signal_wait_until_on_stream(b.word, cmp, 123, s); });
  }
  for (int operation : {-1, 0, 8, 11}) {
    b.expect("signal_op", "sig_op", [&] { nvshmemx_signal_op(b.word, 1, operation, pe); });
    b.expect("signal_op_on_stream", "sig_op", [&] { nvshmemx_signal_op_on_stream(b.word, 1, operation, pe, s); });
    b.expect("putmem_signal", "sig_op",
             [&] { nvshmem_putmem_signal(b.target, b.source, 3, b.word, 1, operation, pe); });
    b.expect("putmem_signal_nbi", "sig_op",
             [&] { nvshmem_putmem_signal_nbi(b.target, b.source, 3, b.word, 1, operation, pe); });
    b.expect("putmem_signal_on_stream", "sig_op",
             [&] { nvshmemx_putmem_signal_on_stream(b.target, b.source, 3, b.word, 1, operation, pe, s); });
  }
  nvshmem_barrier_all();
  b.check_untouched("bad choice");
}

// ---------------------------------------------------------------- teams and collectives

void run_bad_collectives(Bench& b, Random& random) {
  b.start(random);
  cudaStream_t s = b.suite.stream;
  auto* to = reinterpret_cast<int*>(b.target);
  auto* from = reinterpret_cast<int*>(b.source);
  for (nvshmem_team_t team : {NVSHMEM_TEAM_INVALID + 0, 999, -5, 1 << 30}) {
    b.expect_status("barrier", "team", [&] { return nvshmem_barrier(team); });
    b.expect_status("barrier_on_stream", "team", [&] { return nvshmemx_barrier_on_stream(team, s); });
    b.expect_status("team_sync", "team", [&] { return nvshmem_team_sync(team); });
    b.expect_status("team_sync_on_stream", "team", [&] { return nvshmemx_team_sync_on_stream(team, s); });
    b.expect_status("broadcast", "team", [&] { return nvshmem_int_broadcast(team, to, from, 3, 0); });
    b.expect_status("broadcast_on_stream", "team",
                    [&] { return nvshmemx_int_broadcast_on_stream(team, to, from, 3, 0, s); });
    b.expect_status("fcollect", "team", [&] { return nvshmem_int_fcollect(team, to, from, 3); });
    b.expect_status("fcollect_on_stream", "team", [&] { return nvshmemx_fcollectmem_on_stream(team, to, from, 3, s); });
    b.expect_status("sum_reduce", "team", [&] { return nvshmem_int_sum_reduce(team, to, from, 3); });
    b.expect_status("sum_reduce_on_stream", "team",
                    [&] { return nvshmemx_int_sum_reduce_on_stream(team, to, from, 3, s); });
  }
  for (nvshmem_team_t team : {999, -5, NVSHMEM_TEAM_WORLD + 0})
    b.expect("team_destroy", "team", [&] { nvshmem_team_destroy(team); });
  for (int root : {-1, b.suite.pes, 1 << 30}) {
    b.expect_status("broadcast", "PE_root",
                    [&] { return nvshmem_int_broadcast(NVSHMEM_TEAM_WORLD, to, from, 3, root); });
    b.expect_status("broadcast_on_stream", "PE_root",
                    [&] { return nvshmemx_broadcastmem_on_stream(NVSHMEM_TEAM_WORLD, to, from, 3, root, s); });
  }
  for (int* bad : {static_cast<int*>(nullptr), reinterpret_cast<int*>(b.ordinary)}) {
    const nvshmem_team_t world = NVSHMEM_TEAM_WORLD;
    b.expect_status("broadcast", "dest", [&] { return nvshmem_int_broadcast(world, bad, from, 3, 0); });
    b.expect_status("broadcast_on_stream", "dest",
                    [&] { return nvshmemx_int_broadcast_on_stream(world, bad, from, 3, 0, s); });
    b.expect_status("fcollect", "source", [&] { return nvshmem_int_fcollect(world, to, bad, 3); });
    b.expect_status("fcollect_on_stream", "source",
                    [&] { return nvshmemx_int_fcollect_on_stream(world, to, bad, 3, s); });
    b.expect_status("sum_reduce", "dest", [&] { return nvshmem_int_sum_reduce(world, bad, from, 3); });
    b.expect_status("sum_reduce_on_stream", "source",
                    [&] { return nvshmemx_int_sum_reduce_on_stream(world, to, bad, 3, s); });
  }
  auto* odd = reinterpret_cast<int*>(b.target + 1);
  b.expect_status("sum_reduce", "dest", [&] { return nvshmem_int_sum_reduce(NVSHMEM_TEAM_WORLD, odd, from, 3); });
  b.expect_status("sum_reduce_on_stream", "source",
                  [&] { return nvshmemx_int_sum_reduce_on_stream(NVSHMEM_TEAM_WORLD, to, odd, 3, s); });
  nvshmem_barrier_all();
  b.check_untouched("bad collective");
}

void run_other_calls(Bench& b, Random& random) {
  b.start(random);
  int grid = 0;
  b.expect_status("collective_launch", "func",
                  [&] { return nvshmemx_collective_launch(nullptr, 1, 1, nullptr, 0, b.suite.stream); });
  b.expect_status("query_gridsize", "func",
                  [&] { return nvshmemx_collective_launch_query_gridsize(nullptr, 1, nullptr, 0, &grid); });
  b.expect("free", "ptr", [&] { nvshmem_free(b.ordinary); });
  b.expect("free of the middle of a block", "ptr", [&] { nvshmem_free(b.target + 512); });
  b.expect_status("init_thread", "requested", [&] {
    int provided;
    return nvshmem_init_thread(77, &provided);
  });
  nvshmem_barrier_all();
  b.check_untouched("other calls");
}

/// PE 0 asks for another size than the others: nobody gets memory, and everybody is told both sizes.
void run_asymmetric(Bench& b, Random& random) {
  Suite& suite = b.suite;
  const size_t one = 1000 + random.below(1000), two = 500000 + random.below(1000);
  std::string text;
  void* made = nullptr;
  {
    Silence silence;
    nvshmem_query_thread(nullptr);
    made = nvshmem_malloc(suite.me == 0 ? one : two);
    text = causeway_last_error();
  }
  if (suite.pes > 1) {
    suite.equal(made == nullptr, true, "memory of unequal sizes is null");
    if (!has_word(text, std::to_string(one)) || !has_word(text, std::to_string(two)))
      suite.wrong("the text does not name both sizes, %zu and %zu: \"%s\"", one, two, text.c_str());
  }
  if (made) nvshmem_free(made);
  void* after = nvshmem_malloc(two);
  suite.equal(after != nullptr, true, "memory after that");
  for (int pe = 0; after && pe < suite.pes; ++pe)
    suite.equal(static_cast<char*>(nvshmem_ptr(after, pe)) - static_cast<char*>(after),
                static_cast<char*>(nvshmem_ptr(b.target, pe)) - b.target, "symmetry after that");
  nvshmem_free(after);
}

#ifdef CAUSEWAY_CPU
// ---------------------------------------------------------------- kernels: this machine checks there too

__global__ void misuse(int which, char* target, char* source, uint64_t* word, char* ordinary, int pe, int* status) {
  const int pes = nvshmem_n_pes();
  switch (which) {
    case 0:
      nvshmem_int_p(reinterpret_cast<int*>(target), 5, pes);
      break;
    case 1:
      nvshmemx_putmem_block(target, source, 3, -1);
      break;
    case 2:
      nvshmemx_putmem_block(ordinary, source, 3, pe);
      break;
    case 3:
      nvshmemx_getmem_block(target, ordinary, 3, pe);
      break;
    case 4:
      nvshmemx_signal_op(word, 1, 77, pe);
      break;
    case 5:
      nvshmem_signal_wait_until(word, 77, 123);
      break;
    case 6:
      *status = nvshmemx_barrier_block(999);
      break;
    case 7:
      *status = nvshmemx_int_broadcast_block(NVSHMEM_TEAM_WORLD, reinterpret_cast<int*>(target),
                                             reinterpret_cast<int*>(source), 3, pes);
      break;
    case 8:
      nvshmem_int_p(reinterpret_cast<int*>(target + 1), 5, pe);
      break;
    default:
      nvshmem_putmem_signal(target, source, 3, reinterpret_cast<uint64_t*>(ordinary), 1, NVSHMEM_SIGNAL_SET, pe);
      break;
  }
}

void run_in_kernel(Bench& b, Random& random, int which) {
  const char* const arguments[] = {"pe",  "pe",   "dest",    "source", "sig_op",
                                   "cmp", "team", "PE_root", "dest",   "sig_addr"};
  const int pe = b.another_pe(random);
  if (pe == b.suite.me && (which == 2 || which == 3 || which == 9)) return;  // alone, any memory will do
  b.start(random);
  int* status = nullptr;
  CHECK(cudaMalloc(&status, sizeof(int)));
  CHECK(cudaMemsetAsync(status, 0, sizeof(int), b.suite.stream));
  b.expect("misuse in a kernel", arguments[which], [&] {
    misuse<<<1, 8, 0, b.suite.stream>>>(which, b.target, b.source, b.word, b.ordinary, pe, status);
    CHECK(cudaGetLastError());
    CHECK(cudaStreamSynchronize(b.suite.stream));
    nvshmem_barrier_all();  // the next call that meets the device tells, too
  });
  int seen = 0;
  copy(&seen, status, sizeof seen, b.suite.stream);
  if (which == 6 || which == 7) b.suite.equal(seen != 0, true, "status in a kernel");
  CHECK(cudaFree(status));
  nvshmem_barrier_all();
  b.check_untouched("misuse in a kernel");
}
#endif

}  // namespace

int main(int argc, char** argv) {
  Suite suite(argc, argv);
  suite.init();
  Bench bench(suite);
  const int rounds = (suite.cases + 9) / 10;
  suite.family("errors.bad pe", rounds, [&](Random& random, int) { run_bad_pe(bench, random); });
  suite.family("errors.bad address", rounds, [&](Random& random, int) { run_bad_addresses(bench, random); });
  suite.family("errors.repeated", rounds, [&](Random& random, int) { run_repeated(bench, random); });
  suite.family("errors.misaligned", rounds, [&](Random& random, int) { run_misaligned(bench, random); });
  suite.family("errors.bad cmp and sig_op", rounds, [&](Random& random, int) { run_bad_choices(bench, random); });
  suite.family("errors.bad collective", rounds, [&](Random& random, int) { run_bad_collectives(bench, random); });
  suite.family("errors.other calls", rounds, [&](Random& random, int) { run_other_calls(bench, random); });
  suite.family("errors.asymmetric malloc", rounds, [&](Random& random, int) { run_asymmetric(bench, random); });
#ifdef CAUSEWAY_CPU
  suite.family("errors.in a kernel", 10, [&](Random& random, int index) { run_in_kernel(bench, random, index); });
#endif
  bench.free();
  return suite.finish();
}
