// Waits and tests on many variables, of all types: all, any or some of them, with one value or a value for each.
//
// "now": nothing changes, so that every answer is known beforehand. "flow": other PEs set the variables one after the
// other, each after its data, while this PE waits; whatever a wait or test has told of must then be there, data too.
#include "harness.hpp"
#include "many_calls.hpp"
#include "scope.hpp"

using namespace conformance;
using namespace conformance::many;

namespace {

constexpr int kQuestions = 2 * kAsks, kTries = 1000;
constexpr unsigned kDataWords = 3;  // that go before each variable

struct Question {
  int ask, cmp;
  uint64_t variables, count, value;  // `variables`: an offset
  int has_status;
  uint64_t answer;
};

/// A variable to be set at a PE, after its data: words that count up from `data`.
struct Set {
  int waiter;
  unsigned delay;
  uint64_t index, last, data;
};
/// What the waiter finds then.
struct Expected {
  uint64_t last, data;
};
struct Flow {
  int row, ask, cmp;
  unsigned size;
  uint64_t count, parts, value;  // `parts`: how many of the variables take part
  bool has_status, waits;        // `waits`: a kernel's last block does
  char* variables;
  uint64_t* data;
};

constexpr int kMistakes = 4;
const char* const kMistakeNames[] = {"a wrong number of variables", "a variable that takes no part",
                                     "a variable that has not been set", "data older than their variable"};

struct Bench {
  Suite& suite;
  char* variables;  // symmetric, and so are the data
  uint64_t* data;
  Question* questions;
  Sheet* sheets;
  Set* sets;
  Expected* expected;
  int* wrong;
  cudaStream_t second{};

  explicit Bench(Suite& s) : suite(s) {
    CHECK(variables = static_cast<char*>(nvshmem_malloc(kQuestions * kSlots * 8)));
    CHECK(data = static_cast<uint64_t*>(nvshmem_malloc(kSlots * kDataWords * sizeof(uint64_t))));
    CHECK(cudaMalloc(&questions, kQuestions * sizeof(Question)));
    CHECK(cudaMalloc(&sheets, kQuestions * sizeof(Sheet)));
    CHECK(cudaMalloc(&sets, size_t(s.pes) * kSlots * sizeof(Set)));
    CHECK(cudaMalloc(&expected, kSlots * sizeof(Expected)));
    CHECK(cudaMalloc(&wrong, kMistakes * sizeof(int)));
    CHECK(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
  }
  void free() {
    CHECK(cudaStreamDestroy(second));
    for (void* memory : {(void*)wrong, (void*)expected, (void*)sets, (void*)sheets, (void*)questions})
      CHECK(cudaFree(memory));
    nvshmem_free(data);
    nvshmem_free(variables);
  }
};

// ---------------------------------------------------------------- now

template <int Row>
__global__ void ask_now(char* variables, Question* questions, int count, Sheet* sheets) {
  for (unsigned i = thread_in_block(); i < unsigned(count); i += threads_in_block()) {
    Question& q = questions[i];
    Sheet& s = sheets[i];
    q.answer = InKernel<Row>::ask(q.ask, variables + q.variables, q.count, s.indices, q.has_status ? s.status : nullptr,
                                  q.cmp, q.value, s.values);
  }
}

template <int Row>
void launch_now(dim3 block, char* variables, Question* questions, int count, Sheet* sheets, cudaStream_t stream) {
  ask_now<Row><<<1, block, 0, stream>>>(variables, questions, count, sheets);
  CHECK(cudaGetLastError());
}
#define NOW_ROW(NAME, TYPE) launch_now<row_##NAME>,
void (*const kLaunchNow[])(dim3, char*, Question*, int, Sheet*, cudaStream_t) = {CONFORMANCE_WAIT_TYPES(NOW_ROW)};

/// Fills in variables such that a wait ends at once; gives which of them hold.
std::vector<size_t> draw_variables(Random& random, const Row& row, int ask, const Draw& d, char* variables) {
  const int percent = ask % kVector == wait_all ? 100 : random.between(0, 3) * 33 + 1;  // about none to about all
  std::vector<size_t> parts, found;
  for (size_t i = 0; i < d.count; ++i)
    if (d.takes_part[i]) parts.push_back(i);
  const size_t chosen = parts.empty() ? 0 : parts[random.below(parts.size())];  // one that ends a wait
  for (size_t i = 0; i < kSlots; ++i) {
    const bool wanted = i < d.count && d.takes_part[i]
                            ? random.chance(percent) || percent == 100 || (!is_test(ask) && i == chosen)
                            : random.chance(50);
    put_word(variables, i, row.size, draw_variable(random, row, d.cmp, d.values[i], wanted));
    if (wanted && i < d.count && d.takes_part[i]) found.push_back(i);
  }
  return found;
}

void check_answer(Suite& suite, const char* what, const Question& q, const Draw& d, std::vector<size_t> found,
                  const Sheet& before, const Sheet& after) {
  size_t parts = 0, written = 0;
  for (bool part : d.takes_part) parts += part;
  if (amount(q.ask) == wait_all) {
    suite.equal(q.answer, size_t(!is_test(q.ask) || found.size() == parts), what);
  } else if (amount(q.ask) == wait_any) {
    if (found.empty() ? q.answer != SIZE_MAX : std::find(found.begin(), found.end(), q.answer) == found.end())
      suite.wrong("%s: %lld, which is none of the %zu that hold", what, (long long)q.answer, found.size());
  } else {
    suite.equal(q.answer, found.size(), what);
    written = std::min<size_t>(q.answer, kSlots);
    std::vector<size_t> told(after.indices, after.indices + written);
    std::sort(told.begin(), told.end());
    if (told != found) suite.wrong("%s: other numbers than those of the %zu that hold", what, found.size());
  }
  suite.same(after.indices + written, before.indices + written, (kSlots - written) * sizeof(size_t),
             (std::string(what) + ": elements that no number belongs to").c_str());
  suite.same(after.values, before.values, sizeof before.values, "values compared with");
  suite.same(after.status, before.status, sizeof before.status, "statuses");
}

void run_now(Bench& b, Random& random, int row_number, Scope scope) {
  Suite& suite = b.suite;
  const Row& row = kRows[row_number];
  std::vector<char> variables(kQuestions * kSlots * 8, 0), got(variables.size());
  std::vector<Question> questions;
  std::vector<Sheet> sheets(kQuestions);
  std::vector<Draw> draws;
  std::vector<std::vector<size_t>> found;
  for (int i = 0; i < kQuestions; ++i) {
    const int ask = scope == Scope::stream ? wait_all + i % 2 * kVector : i % kAsks;
    const Draw d = draw_comparisons(random, row, ask, sheets[size_t(i)], true);
    const uint64_t offset = size_t(i) * kSlots * 8 + random.below(4) * row.size * (row.size < 8);
    questions.push_back({ask, d.cmp, offset, d.count, d.value, d.has_status, 77});
    found.push_back(draw_variables(random, row, ask, d, variables.data() + offset));
    draws.push_back(d);
  }
  const std::vector<Sheet> before = sheets;
  copy(b.variables, variables.data(), variables.size(), suite.stream);
  copy(b.questions, questions.data(), questions.size() * sizeof(Question), suite.stream);
  copy(b.sheets, sheets.data(), sheets.size() * sizeof(Sheet), suite.stream);
  if (scope == Scope::thread)
    kLaunchNow[row_number](random_block(random, 40, false), b.variables, b.questions, kQuestions, b.sheets,
                           suite.stream);
  for (int i = 0; i < kQuestions; ++i) {
    Question& q = questions[size_t(i)];
    Sheet& s = scope == Scope::host ? sheets[size_t(i)] : b.sheets[i];
    if (scope == Scope::host)
      q.answer = ask_on_host(row_number, q.ask, b.variables + q.variables, q.count, s.indices,
                             q.has_status ? s.status : nullptr, q.cmp, q.value, s.values);
    if (scope == Scope::stream)
      ask_on_stream(row_number, q.ask, b.variables + q.variables, q.count, nullptr, q.has_status ? s.status : nullptr,
                    q.cmp, q.value, s.values, suite.stream),
          q.answer = 1;
  }
  suite.synchronize();
  if (scope == Scope::thread) copy(questions.data(), b.questions, questions.size() * sizeof(Question), suite.stream);
  if (scope != Scope::host) copy(sheets.data(), b.sheets, sheets.size() * sizeof(Sheet), suite.stream);
  copy(got.data(), b.variables, got.size(), suite.stream);
  suite.same(got.data(), variables.data(), got.size(), "variables");
  for (size_t i = 0; i < questions.size(); ++i) {
    const int ask = questions[i].ask;
    const std::string what = std::string(row.name) + " " + kAskNames[ask % kVector] + (ask < kVector ? "" : "_vector");
    check_answer(suite, what.c_str(), questions[i], draws[i], found[i], before[i], sheets[i]);
  }
}

// ---------------------------------------------------------------- flow: both sides

__host__ __device__ inline void produce(const Flow& f, const Set& s) {
  for (unsigned j = 0; j < kDataWords; ++j) nvshmem_uint64_p(f.data + s.index * kDataWords + j, s.data + j, s.waiter);
  nvshmem_fence();
  char* variable = f.variables + s.index * f.size;
  if (f.size == 2) nvshmem_uint16_p(reinterpret_cast<uint16_t*>(variable), uint16_t(s.last), s.waiter);
  if (f.size == 4) nvshmem_uint32_p(reinterpret_cast<uint32_t*>(variable), uint32_t(s.last), s.waiter);
  if (f.size == 8) nvshmem_uint64_p(reinterpret_cast<uint64_t*>(variable), s.last, s.waiter);
}

/// May be called by whoever has the memory at hand: `variables` and `data` as they were seen after the answer.
/// True if there is more to wait for; the numbers that were told are told no more.
__host__ __device__ inline bool account(const Flow& f, Sheet& sheet, const Expected* expected, uint64_t answer,
                                        const volatile char* variables, const volatile uint64_t* data, uint64_t* left,
                                        int* wrong) {
  const bool all = amount(f.ask) == wait_all;
  uint64_t told = amount(f.ask) == wait_any ? answer != SIZE_MAX : answer;
  if (amount(f.ask) == wait_any) sheet.indices[0] = size_t(answer);
  if (all) {
    told = 0;
    for (uint64_t i = 0; i < f.count; ++i)
      if (!f.has_status || sheet.status[i] == 0) sheet.indices[told++] = i;
  }
  if ((told == 0) != (*left == 0) || told > *left) return ++wrong[0], false;  // nothing only when nobody is left
  for (uint64_t k = 0; k < told; ++k) {
    const uint64_t i = sheet.indices[k];
    if (i >= f.count || (!all && sheet.status[i] != 0)) return ++wrong[1], false;
    for (unsigned byte = 0; byte < f.size; ++byte)
      wrong[2] += variables[i * f.size + byte] != static_cast<char>(expected[i].last >> 8 * byte);
    for (unsigned j = 0; j < kDataWords; ++j) wrong[3] += data[i * kDataWords + j] != expected[i].data + j;
    sheet.status[i] = 1;
  }
  *left -= told;
  return !all && told > 0;
}
/// Has a test found nothing yet?
__host__ __device__ inline bool goes_on(int ask, uint64_t answer, uint64_t left) {
  return is_test(ask) && left > 0 && answer == (amount(ask) == wait_any ? uint64_t(SIZE_MAX) : 0);
}

/// What to ask at the n-th try. Tests go round a while; then the wait of the same kind bounds the spin.
__host__ __device__ inline int next_ask(int ask, int tries) {
  return tries < kTries || !is_test(ask) ? ask : ask - kTest;
}

template <int Row>
__device__ size_t ask_until_told(const Flow& f, Sheet& sheet, uint64_t left) {
  for (int tries = 0;; ++tries) {
    const int ask = next_ask(f.ask, tries);
    const size_t answer = InKernel<Row>::ask(ask, f.variables, f.count, sheet.indices,
                                             f.has_status ? sheet.status : nullptr, f.cmp, f.value, sheet.values);
    if (!goes_on(ask, answer, left)) return answer;
  }
}

template <int Row>
__global__ void flow(Flow f, Sheet* sheet, const Expected* expected, const Set* sets, int set_count, int* wrong) {
  if (blockIdx.x + 1 < gridDim.x || !f.waits) {
    for (int k = 0; k < set_count; ++k) {
      dally(wrong, sets[k].delay);
      produce(f, sets[k]);
    }
    nvshmem_quiet();
    return;
  }
  uint64_t left = f.parts;
  size_t answer = 0;
  do answer = ask_until_told<Row>(f, *sheet, left);
  while (account(f, *sheet, expected, answer, f.variables, f.data, &left, wrong));
}

#define FLOW_ROW(NAME, TYPE) (const void*)flow<row_##NAME>,
const void* const kFlows[] = {CONFORMANCE_WAIT_TYPES(FLOW_ROW)};

void wait_on_host(Bench& b, const Flow& f, Sheet& sheet, const Expected* expected, int* wrong) {
  std::vector<char> variables(kSlots * f.size);
  std::vector<uint64_t> data(kSlots * kDataWords);
  uint64_t left = f.parts;
  size_t answer = 0;
  do {
    for (int tries = 0, ask = f.ask;; ++tries) {
      ask = next_ask(f.ask, tries);
      answer = ask_on_host(f.row, ask, f.variables, f.count, sheet.indices, f.has_status ? sheet.status : nullptr,
                           f.cmp, f.value, sheet.values);
      if (!goes_on(ask, answer, left)) break;
    }
    copy(variables.data(), f.variables, variables.size(), b.second);
    copy(data.data(), f.data, data.size() * sizeof(uint64_t), b.second);
  } while (account(f, sheet, expected, answer, variables.data(), data.data(), &left, wrong));
}

void wait_on_stream(Bench& b, const Flow& f, Sheet& sheet, const Expected* expected, int* wrong) {
  std::vector<char> variables(kSlots * f.size);
  std::vector<uint64_t> data(kSlots * kDataWords);
  ask_on_stream(f.row, f.ask, f.variables, f.count, nullptr, f.has_status ? b.sheets->status : nullptr, f.cmp, f.value,
                b.sheets->values, b.second);
  CHECK(cudaMemcpyAsync(variables.data(), f.variables, variables.size(), cudaMemcpyDefault, b.second));
  CHECK(cudaMemcpyAsync(data.data(), f.data, data.size() * sizeof(uint64_t), cudaMemcpyDefault, b.second));
  CHECK(cudaStreamSynchronize(b.second));
  uint64_t left = f.parts;
  account(f, sheet, expected, 1, variables.data(), data.data(), &left, wrong);
}

// ---------------------------------------------------------------- flow: a case

/// What one PE waits for.
struct Waiting {
  Draw draw;
  Sheet sheet;
  std::vector<char> first, last;  // the variables
  std::vector<Expected> expected;
};

/// Draws what all PEs wait for. `mine`: what this PE is to set at whichever PE, in any order.
std::vector<Waiting> draw_waiting(Random& random, int me, int pes, const Row& row, int ask, std::vector<Set>& mine) {
  std::vector<Waiting> all;
  for (int pe = 0; pe < pes; ++pe) {
    Waiting w{};
    w.draw = draw_comparisons(random, row, ask, w.sheet, false);
    if (amount(ask) != wait_all) w.draw.has_status = true;  // what has been told is to be left out
    w.first.resize(kSlots * row.size), w.last = w.first;
    for (size_t i = 0; i < kSlots; ++i) {
      const bool part = w.draw.takes_part[i];
      const uint64_t before = draw_variable(random, row, w.draw.cmp, w.draw.values[i], !part && random.chance(50));
      const uint64_t after = part ? draw_variable(random, row, w.draw.cmp, w.draw.values[i], true) : before;
      put_word(w.first.data(), i, row.size, before);
      put_word(w.last.data(), i, row.size, after);
      w.expected.push_back({after, random.word()});
      const int producer = random.between(0, pes - 1);
      const unsigned delay = unsigned(random.chance(70) ? random.below(20) : random.below(400));
      if (part && producer == me) mine.push_back({pe, delay, i, after, w.expected.back().data});
    }
    all.push_back(w);
  }
  Random own(random.word() ^ uint64_t(me));
  for (size_t i = mine.size(); i > 1; --i) std::swap(mine[i - 1], mine[own.below(i)]);
  return all;
}

void run_flow(Bench& b, Random& random, int row_number, int ask, Scope scope) {
  Suite& suite = b.suite;
  const Row& row = kRows[row_number];
  std::vector<Set> sets;
  Waiting w = draw_waiting(random, suite.me, suite.pes, row, ask, sets)[size_t(suite.me)];
  const Draw& d = w.draw;
  const bool kernel_sets = random.chance(60), kernel_waits = scope == Scope::thread;
  const std::vector<char> old = pattern(random.word(), kSlots * kDataWords * sizeof(uint64_t));
  int wrong[kMistakes] = {}, more[kMistakes] = {};
  copy(b.variables, w.first.data(), w.first.size(), suite.stream);
  copy(b.data, old.data(), old.size(), suite.stream);
  copy(b.sheets, &w.sheet, sizeof w.sheet, suite.stream);
  copy(b.sets, sets.data(), sets.size() * sizeof(Set), suite.stream);
  copy(b.expected, w.expected.data(), kSlots * sizeof(Expected), suite.stream);
  copy(b.wrong, wrong, sizeof wrong, suite.stream);
  nvshmem_barrier_all();

  Flow f{row_number, ask,          d.cmp,        unsigned(row.size), d.count, 0,
         d.value,    d.has_status, kernel_waits, b.variables,        b.data};
  for (bool part : d.takes_part) f.parts += part;
  int set_count = int(sets.size());
  void* arguments[] = {&f, &b.sheets, &b.expected, &b.sets, &set_count, &b.wrong};
  if (kernel_sets || kernel_waits)
    CHECK(nvshmemx_collective_launch(kFlows[row_number], dim3(unsigned(kernel_sets + kernel_waits)), dim3(1), arguments,
                                     0, suite.stream));
  if (!kernel_sets) {
    for (const Set& s : sets) {
      if (s.delay > 200) usleep(s.delay / 4);
      produce(f, s);
    }
    nvshmem_quiet();
  }
  if (scope == Scope::host) wait_on_host(b, f, w.sheet, w.expected.data(), more);
  if (scope == Scope::stream) wait_on_stream(b, f, w.sheet, w.expected.data(), more);
  suite.synchronize();
  copy(wrong, b.wrong, sizeof wrong, suite.stream);
  const std::string what =
      std::string(row.name) + " " + kAskNames[ask % kVector] + (ask < kVector ? ": " : "_vector: ");
  for (int i = 0; i < kMistakes; ++i) suite.equal(wrong[i] + more[i], 0, (what + kMistakeNames[i]).c_str());
  nvshmem_barrier_all();
  std::vector<char> got(w.last.size());
  copy(got.data(), b.variables, got.size(), suite.stream);
  suite.same(got.data(), w.last.data(), got.size(), "variables");
}

}  // namespace

int main(int argc, char** argv) {
  Suite suite(argc, argv);
  suite.init();
  Bench bench(suite);
  for (Scope scope : {Scope::thread, Scope::host, Scope::stream}) {
    if (scope == Scope::host && !kOnHost) continue;
    const std::string name = kScopes[int(scope)];
    suite.family("wait_many.now " + name, std::max(suite.cases, kRowCount),
                 [&](Random& random, int index) { run_now(bench, random, index % kRowCount, scope); });
    suite.family("wait_many.flow " + name, std::max(2 * suite.cases, 2 * kAsks), [&](Random& random, int index) {
      run_flow(bench, random, int(random.below(kRowCount)),
               scope == Scope::stream ? wait_all + index % 2 * kVector : index % kAsks, scope);
    });
  }
  bench.free();
  return suite.finish();
}
