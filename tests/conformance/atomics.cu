// Atomic operations of all types, from kernels, from the host and on streams: blocking, fetching later, without
// fetching.
//
// "alone": each PE updates words that nobody else does, in rounds of distinct words; all words and results are compared
// bit by bit with a model. "contended": threads, hosts and streams of all PEs update one word at the same time, and
// what must come out does not depend on who was first.
#include "atomic_calls.hpp"
#include "harness.hpp"
#include "scope.hpp"

using namespace conformance;
using namespace conformance::atomics;

namespace {

struct Step {
  int op, pe;
  uint64_t word, result;  // offsets of the word and of what is fetched from it
  uint64_t value, condition;
  bool loops;  // a compare_swap that is tried until it has added 1
};

struct Run {
  int row;
  unsigned size;
  char *words, *results;
  const Step* steps;
  int rounds, round_steps;
  uint64_t *started, started_goal;  // if not null: all PEs' runs start together
};

__host__ __device__ inline uint64_t result_word(const char* address, size_t size) {
  return size == 4 ? uint64_t(*reinterpret_cast<const volatile uint32_t*>(address))
                   : *reinterpret_cast<const volatile uint64_t*>(address);
}

/// One step of a thread or a host.
__host__ __device__ inline void take(int row, size_t size, const Step& s, char* word, char* result) {
  if (!s.loops) return call(row, s.op, result, word, s.value, s.condition, s.pe);
  call(row, fetch, result, word, 0, 0, s.pe);
  for (uint64_t before = result_word(result, size);;) {
    call(row, s.op, result, word, before + 1, before, s.pe);
    nvshmem_quiet();  // the result may come later
    const uint64_t seen = result_word(result, size);
    if (seen == before) return;
    before = seen;
  }
}

/// The threads of the grid share the steps of a round; several rounds are for one block.
__global__ void run_steps(Run r) {
  const unsigned in_block = thread_in_block(), threads = threads_in_block();
  if (r.started) {
    if (in_block == 0 && blockIdx.x == 0)
      for (int pe = 0; pe < nvshmem_n_pes(); ++pe) nvshmemx_signal_op(r.started, 1, NVSHMEM_SIGNAL_ADD, pe);
    if (in_block == 0) nvshmem_signal_wait_until(r.started, NVSHMEM_CMP_GE, r.started_goal);
    __syncthreads();
  }
  for (int round = 0; round < r.rounds; ++round) {
    for (unsigned i = blockIdx.x * threads + in_block; i < unsigned(r.round_steps); i += gridDim.x * threads) {
      const Step& s = r.steps[unsigned(round * r.round_steps) + i];
      take(r.row, r.size, s, r.words + s.word, r.results + s.result);
    }
    nvshmem_quiet();
    __syncthreads();
  }
}

// ---------------------------------------------------------------- memory

constexpr int kWords = 32;                                         // a caller's, at each PE
constexpr size_t kStepsMax = 40100, kResultBytes = kStepsMax * 8;  // of one PE

struct Bench {
  Suite& suite;
  char *words, *results, *device_results, *pinned_results;
  std::vector<char> host_results;
  Step* steps;
  uint64_t* started;
  uint64_t contests = 0;
  cudaStream_t second{}, third{};

  explicit Bench(Suite& s) : suite(s), host_results(kResultBytes) {
    CHECK(words = static_cast<char*>(nvshmem_malloc(size_t(s.pes) * kWords * 8)));
    CHECK(results = static_cast<char*>(nvshmem_malloc(kResultBytes)));
    CHECK(started = static_cast<uint64_t*>(nvshmem_calloc(1, sizeof(uint64_t))));
    CHECK(cudaMalloc(&device_results, kResultBytes));
    CHECK(cudaMallocHost(reinterpret_cast<void**>(&pinned_results), kResultBytes));
    CHECK(cudaMalloc(&steps, kStepsMax * sizeof(Step)));
    CHECK(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&third, cudaStreamNonBlocking));
  }
  void free() {
    CHECK(cudaStreamDestroy(third));
    CHECK(cudaStreamDestroy(second));
    CHECK(cudaFree(steps));
    CHECK(cudaFreeHost(pinned_results));
    CHECK(cudaFree(device_results));
    nvshmem_free(started);
    nvshmem_free(results);
    nvshmem_free(words);
  }
};

// ---------------------------------------------------------------- alone

/// A caller's steps: every operation of the type at least once. `world` goes on as the model has it:
/// [PE][caller][word].
std::vector<Step> draw_steps(Random& random, int pes, int caller, const Row& row, std::vector<int> ops, bool finite,
                             int rounds, int round_steps, std::vector<uint64_t>& world,
                             std::vector<uint64_t>& fetched) {
  for (size_t i = ops.size(); i > 1; --i) std::swap(ops[i - 1], ops[random.below(i)]);
  const int peers[2] = {random.between(0, pes - 1), random.between(0, pes - 1)};
  std::vector<Step> steps;
  for (int round = 0; round < rounds; ++round) {
    std::vector<uint64_t> taken;
    for (int i = 0; i < round_steps; ++i) {
      Step s{};
      uint64_t word = 0;
      do {
        s.pe = peers[random.below(2)];
        s.word = uint64_t(caller * kWords + 2 * random.between(0, kWords / 2 - 1) + 1);  // guards between them
        word = uint64_t(s.pe * pes * kWords) + s.word;
      } while (std::find(taken.begin(), taken.end(), word) != taken.end());
      taken.push_back(word);
      const size_t number = steps.size();
      s.op = ops[number % ops.size()];
      s.value = draw_value(random, row, finite);
      s.condition = random.chance(50) ? world[word] : draw_value(random, row, finite);
      s.word *= row.size, s.result = (2 * number + 1) * row.size;
      if (fetches(s.op)) fetched[2 * number + 1] = world[word];
      world[word] = after(row, s.op, world[word], s.value, s.condition);
      steps.push_back(s);
    }
  }
  return steps;
}

void run_alone(Bench& b, Random& random, int row_number, Scope scope) {
  Suite& suite = b.suite;
  const Row& row = kRows[row_number];
  const bool finite = random.chance(50);  // if not, sums of floating point are left out
  std::vector<int> ops;
  for (int op = 0; op < kOps; ++op)
    if (is_valid(row.table, op, scope) && (row.table != floats || finite || (op != add && op % kLater != fetch_add)))
      ops.push_back(op);
  const int rounds = random.between(3, 5), round_steps = (int(ops.size()) + rounds - 1) / rounds + random.between(0, 4);

  const size_t own = size_t(suite.pes) * kWords, words = size_t(2 * rounds * round_steps + 1);
  std::vector<uint64_t> world(own * size_t(suite.pes)), poison(words), expected;
  for (uint64_t& word : world) word = draw_value(random, row, finite);
  for (uint64_t& word : poison) word = random.word() & mask(row);
  const auto mine = [&] {  // this PE's words, as bytes
    const auto begin = world.begin() + std::ptrdiff_t(own) * suite.me;
    return bytes_of(std::vector<uint64_t>(begin, begin + std::ptrdiff_t(own)), row.size);
  };
  const std::vector<char> before = mine();
  std::vector<Step> steps;
  for (int caller = 0; caller < suite.pes; ++caller) {
    std::vector<uint64_t> fetched = poison;
    std::vector<Step> drawn =
        draw_steps(random, suite.pes, caller, row, ops, finite, rounds, round_steps, world, fetched);
    if (caller == suite.me) steps = std::move(drawn), expected = std::move(fetched);
  }

  // Results go where the caller can write: a kernel or a stream to memory of the device or pinned, the host to its own.
  char* const buffers[] = {b.results, b.device_results, b.pinned_results};
  char* results = scope == Scope::host ? b.host_results.data() : buffers[random.below(3)];
  copy(results, bytes_of(poison, row.size).data(), words * row.size, suite.stream);
  copy(b.words, before.data(), before.size(), suite.stream);
  copy(b.steps, steps.data(), steps.size() * sizeof(Step), suite.stream);
  nvshmem_barrier_all();
  if (scope == Scope::thread) {
    run_steps<<<1, random_block(random, 40, false), 0, suite.stream>>>(
        Run{row_number, unsigned(row.size), b.words, results, b.steps, rounds, round_steps, nullptr, 0});
    CHECK(cudaGetLastError());
  }
  for (size_t i = 0; i < steps.size() && scope != Scope::thread; ++i) {
    const Step& s = steps[i];
    if (scope == Scope::host)
      take(row_number, row.size, s, b.words + s.word, results + s.result);
    else
      call_on_stream(row_number, s.op, results + s.result, b.words + s.word, s.value, s.condition, s.pe, suite.stream);
    if ((i + 1) % size_t(round_steps) != 0) continue;
    if (scope == Scope::host)
      nvshmem_quiet();
    else
      nvshmemx_quiet_on_stream(suite.stream);
  }
  suite.synchronize();
  nvshmem_barrier_all();

  std::vector<char> got(before.size()), got_results(words * row.size);
  copy(got.data(), b.words, got.size(), suite.stream);
  copy(got_results.data(), results, got_results.size(), suite.stream);
  suite.same(got.data(), mine().data(), got.size(), (std::string(row.name) + " words").c_str());
  suite.same(got_results.data(), bytes_of(expected, row.size).data(), got_results.size(),
             (std::string(row.name) + " results").c_str());
}

// ---------------------------------------------------------------- contended

enum class Contest { sum, tickets, compare_swap, swap, set, and_, or_, xor_ };
const char* const kContests[] = {"sum", "tickets", "compare_swap", "swap", "set", "and", "or", "xor"};
const std::vector<int> kContestOps[] = {
    {add, inc, fetch_add, fetch_inc, fetch_add_nbi, fetch_inc_nbi},
    {fetch_add, fetch_inc, fetch_add_nbi, fetch_inc_nbi},
    {compare_swap, compare_swap_nbi},
    {swap_, swap_nbi},
    {set, fetch, fetch_nbi},
    {and_, fetch_and, fetch_and_nbi},
    {or_, fetch_or, fetch_or_nbi},
    {xor_, fetch_xor, fetch_xor_nbi},
};

/// Some steps of one PE's threads, host or stream; `all` are those of all PEs so far.
void draw_contest_steps(Random& random, const Row& row, Contest contest, Scope scope, bool all_fetch, int count, Step s,
                        std::vector<Step>& all) {
  std::vector<int> ops;
  for (int op : kContestOps[int(contest)])
    if (is_valid(row.table, op, scope) && (!all_fetch || fetches(op))) ops.push_back(op);
  s.loops = contest == Contest::compare_swap && scope != Scope::stream;
  if (contest == Contest::compare_swap && scope == Scope::stream) ops = {fetch_inc_nbi};  // streams know no loops
  for (int i = 0; i < count && !ops.empty() && (scope != Scope::stream || kComplete); ++i) {
    s.op = ops[random.below(ops.size())];
    const uint64_t bit = uint64_t{1} << random.below(8 * row.size);
    switch (contest) {
      case Contest::sum:  // sums of small whole numbers are exact in floating point too
        s.value =
            random.chance(50) && row.table != floats ? random.word() & mask(row) : whole(row, random.between(-8, 8));
        break;
      case Contest::swap:
      case Contest::set:  // all different, in both halves of the word
        s.value = (all.size() + 1) * 0x9e3779b97f4a7c15u & mask(row);
        break;
      case Contest::and_:
      case Contest::or_:  // each changes one bit, if it is the first to
        s.value = contest == Contest::or_ ? bit : ~bit & mask(row);
        break;
      case Contest::xor_:
        s.value = random.word() & mask(row);
        break;
      default:
        s.value = whole(row, 1);
    }
    all.push_back(s);
    s.result += row.size;
  }
}

/// `before` is what the steps have fetched.
void check_contest(Suite& suite, const Row& row, Contest contest, uint64_t first, uint64_t last,
                   const std::vector<Step>& steps, const std::vector<uint64_t>& before) {
  const std::string what = std::string(row.name) + " " + kContests[int(contest)];
  const bool settles = contest != Contest::swap && contest != Contest::set;  // the last value depends on no order
  std::vector<uint64_t> got, expected{first};  // the values that the word has gone through; any order
  uint64_t folded = first;
  std::vector<int> changes(64, 0);
  for (size_t i = 0; i < steps.size(); ++i) {
    const Step& s = steps[i];
    const uint64_t value = settles ? folded = after(row, s.loops ? fetch_inc : s.op, folded, s.value, 0) : s.value;
    if (contest != Contest::set || s.op == set) expected.push_back(value);
    if (!fetches(s.op)) continue;
    got.push_back(before[i]);
    for (int bit = 0; bit < 64; ++bit)
      changes[size_t(bit)] += ((before[i] ^ after(row, s.op, before[i], s.value, 0)) >> bit) & 1;
  }
  got.push_back(last);
  std::sort(expected.begin(), expected.end());
  std::sort(got.begin(), got.end());
  if (settles) suite.equal(last, folded, (what + ": last value").c_str());
  if (contest == Contest::tickets || contest == Contest::compare_swap || contest == Contest::swap)
    suite.same(got.data(), expected.data(), got.size() * sizeof(uint64_t), (what + ": values fetched, sorted").c_str());
  const auto distinct = std::unique(got.begin(), got.end());
  if (contest == Contest::set && !std::includes(expected.begin(), expected.end(), got.begin(), distinct))
    suite.wrong("%s: a value that nobody has set", what.c_str());
  if (contest == Contest::and_ || contest == Contest::or_)
    for (int bit = 0; bit < 64; ++bit)
      if (changes[size_t(bit)] > 1) suite.wrong("%s: bit %d changed %d times", what.c_str(), bit, changes[size_t(bit)]);
}

void run_contest(Bench& b, Random& random, int row_number, Contest contest) {
  Suite& suite = b.suite;
  const Row& row = kRows[row_number];
  const dim3 grid(unsigned(random.between(1, 3))), block = random_block(random, 40, false);
  const int threads = int(grid.x * block.x * block.y * block.z);
  // A few at once; or so many that the PEs' kernels overlap in time; or that they do on a machine that is busy, too.
  const int kind = random.between(0, 99);
  const int kernel_steps = kind < 50   ? threads * random.between(1, 3)
                           : kind < 80 ? random.between(1000, 2000)
                                       : 40000 / suite.pes;
  const int host_steps = random.between(1, 8), stream_steps = random.between(1, 8);
  const bool all_fetch = contest == Contest::tickets || random.chance(50);

  // One word of one PE, guards around; every PE knows the steps of all.
  Step one{};
  one.pe = random.between(0, suite.pes - 1), one.word = uint64_t(random.between(1, kWords - 2)) * row.size;
  const bool adds = contest <= Contest::tickets;
  const uint64_t first =
      adds && row.table == floats ? whole(row, random.between(-100, 100)) : draw_value(random, row, false);
  std::vector<Step> all;
  size_t own = 0, after_kernel = 0, after_host = 0, begin = 0;
  for (int pe = 0; pe < suite.pes; ++pe) {
    const size_t start = all.size();
    Step next = one;
    const auto draw = [&](Scope scope, int count) {
      next.result = (all.size() - start) * row.size;
      draw_contest_steps(random, row, contest, scope, all_fetch, count, next, all);
      return all.size() - start;
    };
    after_kernel = draw(Scope::thread, kernel_steps);
    after_host = draw(Scope::host, host_steps);
    own = draw(Scope::stream, stream_steps);
    if (pe == suite.me) begin = start;
  }
  const Step* mine = all.data() + begin;

  std::vector<char> words = pattern(random.word(), kWords * row.size), got(words.size());
  std::memcpy(words.data() + one.word, &first, row.size);
  copy(b.words, words.data(), words.size(), suite.stream);
  copy(b.steps, mine, own * sizeof(Step), suite.stream);
  CHECK(cudaMemsetAsync(b.results, 0x5a, kResultBytes, suite.stream));
  suite.synchronize();
  nvshmem_barrier_all();

  Run run{row_number,
          unsigned(row.size),
          b.words,
          b.results,
          b.steps,
          1,
          int(after_kernel),
          b.started,
          ++b.contests * uint64_t(suite.pes)};
  void* arguments[] = {&run};
  CHECK(nvshmemx_collective_launch((const void*)run_steps, grid, block, arguments, 0, suite.stream));
  for (cudaStream_t stream : {b.second, b.third})
    nvshmemx_signal_wait_until_on_stream(b.started, NVSHMEM_CMP_GE, run.started_goal, stream);
  for (size_t i = after_host; i < own; ++i) {
    const Step& s = mine[i];
    call_on_stream(row_number, s.op, b.results + s.result, b.words + s.word, s.value, s.condition, s.pe, b.second);
  }
  nvshmemx_quiet_on_stream(b.second);
  CHECK(cudaStreamSynchronize(b.third));
  for (size_t i = after_kernel; i < after_host; ++i)
    take(row_number, row.size, mine[i], b.words + mine[i].word, b.host_results.data() + mine[i].result);
  nvshmem_quiet();
  copy(b.results + after_kernel * row.size, b.host_results.data() + after_kernel * row.size,
       (after_host - after_kernel) * row.size, b.third);
  CHECK(cudaStreamSynchronize(b.second));
  suite.synchronize();
  nvshmem_barrier_all();

  copy(got.data(), b.words, got.size(), suite.stream);
  if (one.pe == suite.me) {
    std::vector<uint64_t> before(all.size(), 0);
    std::vector<char> theirs(own * row.size);
    for (size_t i = 0; i < all.size(); ++i) {
      if (i % own == 0) nvshmem_getmem(theirs.data(), b.results, theirs.size(), int(i / own));
      std::memcpy(&before[i], theirs.data() + i % own * row.size, row.size);
    }
    check_contest(suite, row, contest, first, result_word(got.data() + one.word, row.size), all, before);
    std::memcpy(words.data() + one.word, got.data() + one.word, row.size);
  }
  suite.same(got.data(), words.data(), got.size(),
             (std::string(row.name) + ": words beside the contended one").c_str());
  nvshmem_barrier_all();
}

}  // namespace

int main(int argc, char** argv) {
  Suite suite(argc, argv);
  suite.init();
  Bench bench(suite);
  for (Scope scope : {Scope::thread, Scope::host, Scope::stream}) {
    if (scope == Scope::stream && !kComplete) continue;
    suite.family(std::string("atomics.alone ") + kScopes[int(scope)], std::max(suite.cases, 2 * kRowCount),
                 [&](Random& random, int index) { run_alone(bench, random, index % kRowCount, scope); });
  }
  for (int contest = 0; contest < int(sizeof kContests / sizeof *kContests); ++contest) {
    std::vector<int> rows;  // every type that has the operations, however few cases are asked for
    for (int row = 0; row < kRowCount; ++row)
      if (is_valid(kRows[row].table, kContestOps[contest][0], Scope::thread)) rows.push_back(row);
    suite.family(std::string("atomics.contended ") + kContests[contest], std::max(suite.cases, int(rows.size())),
                 [&](Random& random, int index) {
                   run_contest(bench, random, rows[size_t(index) % rows.size()], Contest(contest));
                 });
  }
  bench.free();
  return suite.finish();
}
