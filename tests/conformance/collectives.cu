// Collectives: broadcast, fcollect and sum_reduce, from kernels of every scope, from the host, on streams, in graphs.
//
// A case is a row of operations of one type on one team, with nothing between them. Every member then compares its whole
// destination, guards and all, with a model; sums of floating point must also have the same bits on all members.
#include "harness.hpp"
#include "scope.hpp"
#include "sums.hpp"
#include "types.hpp"

using namespace conformance;

namespace {

enum class Kind { broadcast, fcollect, sum };
const char* const kKinds[] = {"broadcast", "fcollect", "sum_reduce"};

struct Operation {
  uint64_t dest, source, elements, dest_bytes;  // offsets in the arenas; dest == source in place
  int root, in_place;
};

// ---------------------------------------------------------------- the calls of one type

#define COLLECTIVE_PARAMETERS(TYPE) nvshmem_team_t team, TYPE *dest, const TYPE *source, size_t elements, int root
#define DEFINE_MOVING(STRUCT, TYPE, BROADCAST, FCOLLECT)                                                            \
  struct STRUCT {                                                                                                   \
    using Element = TYPE;                                                                                           \
    static __device__ int thread(Kind kind, COLLECTIVE_PARAMETERS(TYPE)) {                                          \
      return kind == Kind::broadcast ? nvshmem_##BROADCAST(team, dest, source, elements, root)                      \
                                     : nvshmem_##FCOLLECT(team, dest, source, elements);                            \
    }                                                                                                               \
    static __device__ int warp(Kind kind, COLLECTIVE_PARAMETERS(TYPE)) {                                            \
      return kind == Kind::broadcast ? nvshmemx_##BROADCAST##_warp(team, dest, source, elements, root)              \
                                     : nvshmemx_##FCOLLECT##_warp(team, dest, source, elements);                    \
    }                                                                                                               \
    static __device__ int block(Kind kind, COLLECTIVE_PARAMETERS(TYPE)) {                                           \
      return kind == Kind::broadcast ? nvshmemx_##BROADCAST##_block(team, dest, source, elements, root)             \
                                     : nvshmemx_##FCOLLECT##_block(team, dest, source, elements);                   \
    }                                                                                                               \
    static int host(Kind kind, COLLECTIVE_PARAMETERS(TYPE)) {                                                       \
      return kind == Kind::broadcast ? nvshmem_##BROADCAST(team, dest, source, elements, root)                      \
                                     : nvshmem_##FCOLLECT(team, dest, source, elements);                            \
    }                                                                                                               \
    static int on_stream(Kind kind, COLLECTIVE_PARAMETERS(TYPE), cudaStream_t stream) {                             \
      return kind == Kind::broadcast ? nvshmemx_##BROADCAST##_on_stream(team, dest, source, elements, root, stream) \
                                     : nvshmemx_##FCOLLECT##_on_stream(team, dest, source, elements, stream);       \
    }                                                                                                               \
  };
#define DEFINE_TYPED_MOVING(NAME, TYPE) DEFINE_MOVING(Move_##NAME, TYPE, NAME##_broadcast, NAME##_fcollect)
CONFORMANCE_TYPES(DEFINE_TYPED_MOVING)
DEFINE_MOVING(MoveMem, void, broadcastmem, fcollectmem)

#define SUM_PARAMETERS(TYPE) nvshmem_team_t team, TYPE *dest, const TYPE *source, size_t elements, int
#define DEFINE_SUMMING(NAME, TYPE)                                                                                    \
  struct Sum_##NAME {                                                                                                 \
    using Element = TYPE;                                                                                             \
    static __device__ int thread(Kind, SUM_PARAMETERS(TYPE)) {                                                        \
      return nvshmem_##NAME##_sum_reduce(team, dest, source, elements);                                               \
    }                                                                                                                 \
    static __device__ int warp(Kind, SUM_PARAMETERS(TYPE)) {                                                          \
      return nvshmemx_##NAME##_sum_reduce_warp(team, dest, source, elements);                                         \
    }                                                                                                                 \
    static __device__ int block(Kind, SUM_PARAMETERS(TYPE)) {                                                         \
      return nvshmemx_##NAME##_sum_reduce_block(team, dest, source, elements);                                        \
    }                                                                                                                 \
    static int host(Kind, SUM_PARAMETERS(TYPE)) { return nvshmem_##NAME##_sum_reduce(team, dest, source, elements); } \
    static int on_stream(Kind, SUM_PARAMETERS(TYPE), cudaStream_t stream) {                                           \
      return nvshmemx_##NAME##_sum_reduce_on_stream(team, dest, source, elements, stream);                            \
    }                                                                                                                 \
  };
CONFORMANCE_SUM_TYPES(DEFINE_SUMMING)

/// All operations of a case, one after the other, by one group.
struct Row {
  Kind kind;
  Scope scope;
  nvshmem_team_t team;
  char *dest, *source;
  const Operation* operations;
  int count;
  int* bad_status;
};

template <class Calls>
__global__ void collect(Row row) {
  using Element = typename Calls::Element;
  for (int i = 0; i < row.count; ++i) {
    const Operation& o = row.operations[i];
    auto* source = reinterpret_cast<Element*>((o.in_place ? row.dest : row.source) + o.source);
    auto* dest = reinterpret_cast<Element*>(row.dest + o.dest);
    int status = 0;
    if (row.scope == Scope::thread)
      status = Calls::thread(row.kind, row.team, dest, source, o.elements, o.root);
    else if (row.scope == Scope::warp)
      status = Calls::warp(row.kind, row.team, dest, source, o.elements, o.root);
    else
      status = Calls::block(row.kind, row.team, dest, source, o.elements, o.root);
    if (status) atomicAdd(row.bad_status, 1);
  }
}
template <class Calls>
void launch_row(const Row& from, dim3 block, cudaStream_t stream) {
  Row row = from;
  void* arguments[] = {&row};
  CHECK(nvshmemx_collective_launch((const void*)collect<Calls>, dim3(1), block, arguments, 0, stream));
}
template <class Calls>
int call_one(const Row& row, const Operation& o, cudaStream_t stream) {
  using Element = typename Calls::Element;
  auto* source = reinterpret_cast<Element*>((o.in_place ? row.dest : row.source) + o.source);
  auto* dest = reinterpret_cast<Element*>(row.dest + o.dest);
  return row.scope == Scope::host ? Calls::host(row.kind, row.team, dest, source, o.elements, o.root)
                                  : Calls::on_stream(row.kind, row.team, dest, source, o.elements, o.root, stream);
}

// ---------------------------------------------------------------- the calls as data

struct Calls {
  const char* name;
  size_t size;
  void (*launch)(const Row&, dim3 block, cudaStream_t);
  int (*call)(const Row&, const Operation&, cudaStream_t);
  void (*fill)(char*, uint64_t, size_t, bool) = nullptr;
  void (*check)(Suite&, const Sources&, const char*, size_t, bool) = nullptr;
};
#define MOVE_ROW(NAME, TYPE) {#NAME, sizeof(TYPE), launch_row<Move_##NAME>, call_one<Move_##NAME>},
#define SUM_ROW(NAME, TYPE) \
  {#NAME, sizeof(TYPE), launch_row<Sum_##NAME>, call_one<Sum_##NAME>, fill_values<TYPE>, check_sums<TYPE>},
const Calls kMoving[] = {{"mem", 1, launch_row<MoveMem>, call_one<MoveMem>}, CONFORMANCE_TYPES(MOVE_ROW)};
const Calls kSumming[] = {CONFORMANCE_SUM_TYPES(SUM_ROW)};

// ---------------------------------------------------------------- teams and arenas

struct Team {
  nvshmem_team_t handle;
  int first, stride, size;
  int pe(int member) const { return first + member * stride; }
};

constexpr size_t kArena = 1 << 20;
constexpr int kOperationsMax = 4;

struct Bench {
  Suite& suite;
  std::vector<Team> teams;  // the same on all PEs; the handle is invalid where a PE is no member
  char *dest, *source;
  uint64_t* digests;  // symmetric, by PE
  Operation* operations;
  int* bad_status;

  Bench(Suite& s, Random random) : suite(s) {
    CHECK(dest = static_cast<char*>(nvshmem_align(256, kArena)));
    CHECK(source = static_cast<char*>(nvshmem_align(256, kArena)));
    CHECK(digests = static_cast<uint64_t*>(nvshmem_calloc(size_t(suite.pes), sizeof(uint64_t))));
    CHECK(cudaMalloc(&operations, kOperationsMax * sizeof(Operation)));
    CHECK(cudaMalloc(&bad_status, sizeof(int)));
    teams.push_back({NVSHMEM_TEAM_WORLD, 0, 1, suite.pes});
    add(suite.pes - 1, -1, suite.pes);
    add(0, 2, (suite.pes + 1) / 2);
    add(suite.pes / 2, 1, 1);
    for (int i = 0; i < 4; ++i) {
      const int stride = random.between(1, 3), first = random.between(0, suite.pes - 1);
      add(first, stride, random.between(1, (suite.pes - 1 - first) / stride + 1));
    }
  }
  void add(int first, int stride, int size) {
    Team team{NVSHMEM_TEAM_INVALID, first, stride, size};
    CHECK(nvshmem_team_split_strided(NVSHMEM_TEAM_WORLD, first, stride, size, nullptr, 0, &team.handle));
    teams.push_back(team);
  }
  const Team& draw_team(Random& random) const { return teams[random.chance(30) ? 0 : random.below(teams.size())]; }
  void free() {
    for (size_t i = 1; i < teams.size(); ++i) nvshmem_team_destroy(teams[i].handle);
    CHECK(cudaFree(bad_status));
    CHECK(cudaFree(operations));
    nvshmem_free(digests);
    nvshmem_free(source);
    nvshmem_free(dest);
  }
};

std::vector<Operation> draw_operations(Random& random, const Calls& calls, Kind kind, const Team& team, int count) {
  std::vector<Operation> all;
  size_t dest = kGuard, source = 0;
  for (int i = 0; i < count; ++i) {
    Operation o{};
    const size_t times = kind == Kind::fcollect ? size_t(team.size) : 1, size = calls.size;
    dest = (dest + size - 1) / size * size + size * random.below(17);
    source = (source + size - 1) / size * size + size * random.below(17);
    o.elements = random.length(5000);
    if (dest + o.elements * size * times + 1024 > kArena || source + o.elements * size + 1024 > kArena) o.elements = 0;
    o.dest = dest, o.dest_bytes = o.elements * size * times;
    o.in_place = kind != Kind::fcollect && random.chance(30);
    o.source = o.in_place ? dest : source;
    o.root = random.between(0, team.size - 1);
    dest += o.dest_bytes + kGuard, source += o.elements * size;
    all.push_back(o);
  }
  return all;
}

// ---------------------------------------------------------------- a case, in steps: also those of a graph replay

struct Case {
  Bench& b;
  const Calls& calls;
  Kind kind;
  Team team;
  std::vector<Operation> operations;
  std::vector<Sources> sources;  // by operation, by member
  std::vector<char> expected;
  bool whole = true;

  /// New contents here. Others may have entered the collective already: only its own meeting keeps them from looking at
  /// sources that are not ready, and from writing to destinations that are still being filled.
  void fill(Random& random) {
    Suite& suite = b.suite;
    const uint64_t key = random.word();
    whole = random.chance(50);
    expected = pattern(key ^ mix(uint64_t(suite.me)), kArena);
    std::vector<char> source(kArena, char(0x5a));
    sources.assign(operations.size(), Sources(static_cast<size_t>(team.size)));
    for (size_t i = 0; i < operations.size(); ++i) {
      const Operation& o = operations[i];
      for (int member = 0; member < team.size; ++member) {
        auto& bytes = sources[i][size_t(member)];
        bytes.resize(o.elements * calls.size);
        const uint64_t stream = mix(key + i) ^ mix(uint64_t(member));
        if (calls.fill)
          calls.fill(bytes.data(), stream, o.elements, whole);
        else
          pattern(bytes.data(), stream, 0, bytes.size());
        if (team.pe(member) == suite.me && !bytes.empty())
          std::memcpy((o.in_place ? expected : source).data() + o.source, bytes.data(), bytes.size());
      }
    }
    copy(b.dest, expected.data(), kArena, suite.stream);
    copy(b.source, source.data(), kArena, suite.stream);
  }

  void compare() {
    Suite& suite = b.suite;
    std::vector<char> got(kArena);
    copy(got.data(), b.dest, kArena, suite.stream);
    for (size_t i = 0; i < operations.size(); ++i) {
      const Operation& o = operations[i];
      char* place = expected.data() + o.dest;
      if (o.elements == 0) continue;
      if (kind == Kind::broadcast) {
        std::memcpy(place, sources[i][size_t(o.root)].data(), o.dest_bytes);
      } else if (kind == Kind::fcollect) {
        for (const auto& bytes : sources[i]) std::memcpy(place, bytes.data(), bytes.size()), place += bytes.size();
      } else {
        calls.check(suite, sources[i], got.data() + o.dest, o.elements, whole);
        std::memcpy(place, got.data() + o.dest, o.dest_bytes);  // judged: below it is about what is around
      }
    }
    suite.same(got.data(), expected.data(), kArena, calls.name);
    digest(got);
  }

  /// The members' results have the same bits.
  void digest(const std::vector<char>& got) {
    Suite& suite = b.suite;
    uint64_t mine = 1;
    for (const Operation& o : operations)
      for (uint64_t k = 0; k < o.dest_bytes; ++k) mine = mine * 1099511628211u + uint64_t(uint8_t(got[o.dest + k]));
    copy(b.digests + suite.me, &mine, sizeof mine, suite.stream);
    suite.equal(nvshmem_barrier(team.handle), 0, "status of barrier");
    for (int member = 0; member < team.size; ++member) {
      const int pe = team.pe(member);
      suite.equal(nvshmem_uint64_g(b.digests + pe, pe), mine, "digest of a member's results");
    }
    suite.equal(nvshmem_barrier(team.handle), 0, "status of barrier");
  }
};

void run_case(Bench& b, Random& random, const Calls& calls, Kind kind, Scope scope) {
  Suite& suite = b.suite;
  const Team team = b.draw_team(random);
  Case c{b, calls, kind, team, draw_operations(random, calls, kind, team, random.between(1, kOperationsMax)), {}, {}};
  Random contents(random.word());
  const dim3 block = scope == Scope::thread ? dim3(1)
                     : scope == Scope::warp ? dim3(32)
                                            : random_block(random, 130, false);
  const bool late = suite.me == team.pe(int(random.below(uint64_t(team.size)))) && random.chance(40);
  nvshmem_barrier_all();
  if (team.handle == NVSHMEM_TEAM_INVALID) return;
  if (late) usleep(2000);
  c.fill(contents);

  Row row{kind, scope, team.handle, b.dest, b.source, b.operations, int(c.operations.size()), b.bad_status};
  if (scope == Scope::host || scope == Scope::stream) {
    for (const Operation& o : c.operations) suite.equal(calls.call(row, o, suite.stream), 0, "status");
  } else {
    copy(b.operations, c.operations.data(), c.operations.size() * sizeof(Operation), suite.stream);
    CHECK(cudaMemsetAsync(b.bad_status, 0, sizeof(int), suite.stream));
    calls.launch(row, block, suite.stream);
  }
  suite.synchronize();
  if (scope != Scope::host && scope != Scope::stream) {
    int bad = 0;
    copy(&bad, b.bad_status, sizeof bad, suite.stream);
    suite.equal(bad, 0, "calls with a status in the kernel");
  }
  c.compare();
}

/// All three operations in one captured graph, replayed with new data.
void run_graph(Bench& b, Random& random) {
  Suite& suite = b.suite;
  const Kind kind = Kind(random.between(0, 2));
  const Calls& calls = kind == Kind::sum ? kSumming[random.below(sizeof kSumming / sizeof *kSumming)]
                                         : kMoving[random.below(sizeof kMoving / sizeof *kMoving)];
  const Team team = b.draw_team(random);
  Case c{b, calls, kind, team, draw_operations(random, calls, kind, team, random.between(1, kOperationsMax)), {}, {}};
  nvshmem_barrier_all();
  const bool member = team.handle != NVSHMEM_TEAM_INVALID;
  cudaGraph_t graph{};
  cudaGraphExec_t executable{};
  Row row{kind, Scope::stream, team.handle, b.dest, b.source, b.operations, int(c.operations.size()), b.bad_status};
  if (member) {
    CHECK(cudaStreamBeginCapture(suite.stream, cudaStreamCaptureModeThreadLocal));
    for (const Operation& o : c.operations) suite.equal(calls.call(row, o, suite.stream), 0, "status while capturing");
    CHECK(cudaStreamEndCapture(suite.stream, &graph));
    CHECK(cudaGraphInstantiate(&executable, graph, 0));
  }
  for (int replay = 0; replay < 5; ++replay) {
    Random contents(random.word());
    nvshmem_barrier_all();
    if (!member) continue;
    c.fill(contents);
    CHECK(cudaGraphLaunch(executable, suite.stream));
    suite.synchronize();
    c.compare();
  }
  if (member) {
    CHECK(cudaGraphExecDestroy(executable));
    CHECK(cudaGraphDestroy(graph));
  }
}

}  // namespace

int main(int argc, char** argv) {
  Suite suite(argc, argv);
  suite.init();
  Bench bench(suite, Random(suite.seed));
  constexpr int kMovingRows = sizeof kMoving / sizeof *kMoving, kSummingRows = sizeof kSumming / sizeof *kSumming;
  for (Kind kind : {Kind::broadcast, Kind::fcollect, Kind::sum})  // cases take the types in turn
    for (Scope scope : kAllScopes) {
      int row = int(suite.seed % 7);
      suite.family(std::string("collectives.") + kKinds[int(kind)] + " " + kScopes[int(scope)], suite.cases,
                   [&](Random& random, int) {
                     const Calls& calls = kind == Kind::sum ? kSumming[row % kSummingRows] : kMoving[row % kMovingRows];
                     ++row;
                     run_case(bench, random, calls, kind, scope);
                   });
    }
  suite.family("collectives.graph", (suite.cases + 2) / 3, [&](Random& random, int) { run_graph(bench, random); });
  bench.free();
  return suite.finish();
}
