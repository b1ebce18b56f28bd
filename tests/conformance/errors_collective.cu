// Misuse of collectives, by every scope: bad arguments of all members, of one member, and members that disagree. Every
// member is told, nothing moves, nobody waits, and the team works afterwards.
#define EVERY_SHAPE_TYPES(X) X(uint64, uint64_t)
#include "every_shape.hpp"
#include "misuse.hpp"

using namespace conformance;

namespace {

using Size = uint64_t;  // the element

struct Try {
  Kind kind;
  char *dest, *source;
  Operation o;
};

struct Stage {
  Suite& suite;
  MisuseBench bench;
  std::vector<Team> teams;
  Operation* operations;
  int* bad_status;
  char *told, *telling;  // symmetric: for the operation that shows that the team works
  Type type = kSomeTypes[0];

  explicit Stage(Suite& s) : suite(s), bench(s) {
    CHECK(cudaMalloc(&operations, sizeof(Operation)));
    CHECK(cudaMalloc(&bad_status, sizeof(int)));
    CHECK(told = static_cast<char*>(nvshmem_malloc(size_t(suite.pes) * sizeof(Size))));
    CHECK(telling = static_cast<char*>(nvshmem_malloc(sizeof(Size))));
    add(0, 1, suite.pes);
    add(suite.pes - 1, -1, suite.pes);
    add(0, 2, (suite.pes + 1) / 2);
    add(suite.pes / 2, 1, suite.pes - suite.pes / 2);
  }
  void add(int first, int stride, int size) {
    Team team{NVSHMEM_TEAM_INVALID, {}};
    for (int i = 0; i < size; ++i) team.members.push_back(first + i * stride);
    CHECK(nvshmem_team_split_strided(NVSHMEM_TEAM_WORLD, first, stride, size, nullptr, 0, &team.handle));
    teams.push_back(team);
  }
  void free() {
    for (const Team& team : teams) nvshmem_team_destroy(team.handle);
    nvshmem_free(telling);
    nvshmem_free(told);
    CHECK(cudaFree(bad_status));
    CHECK(cudaFree(operations));
    bench.free();
  }

  /// Makes the call. The status, or how many threads had one.
  int make(Scope scope, nvshmem_team_t team, const Try& t, dim3 block) {
    const Row row{scope, team, t.dest, t.source, operations, 1, bad_status};
    if (!is_in_kernel(scope)) {
      const int status = type.call(row, t.o, suite.stream);
      suite.synchronize();
      return status;
    }
    copy(operations, &t.o, sizeof t.o, suite.stream);
    CHECK(cudaMemsetAsync(bad_status, 0, sizeof(int), suite.stream));
    type.launch(row, block, suite.stream);
    int bad = 0;
    copy(&bad, bad_status, sizeof bad, suite.stream);
    return bad;
  }
  /// Faults of kernels are told by the next call that goes to the device.
  void expect_told() {
    bench.expect("quiet_on_stream after a kernel", "reported", [&] { nvshmemx_quiet_on_stream(suite.stream); });
  }
  void check_team_works(Scope scope, const Team& team, dim3 block) {
    const Size mine = Size(suite.me) + 77;
    copy(telling, &mine, sizeof mine, suite.stream);
    Try t{kEveryShape[kFcollect], told, telling, {}};
    t.o.number = kFcollect, t.o.elements = 1;
    suite.equal(make(scope, team.handle, t, block), 0, "status of fcollect after misuse");
    std::vector<Size> all(team.members.size());
    copy(all.data(), told, all.size() * sizeof(Size), suite.stream);
    for (size_t i = 0; i < all.size(); ++i) suite.equal(all[i], Size(team.members[i]) + 77, "fcollect after misuse");
  }
};

/// Good arguments, with at least two elements.
Try draw_try(Stage& s, Random& random, const Kind& kind, int members) {
  Try t{kind, s.bench.target, s.bench.source, {}};
  t.o.number = kind.number;
  t.o.elements = size_t(random.between(2, 4));
  t.o.root = random.between(0, members - 1);
  t.o.dst = random.between(1, 2), t.o.sst = random.between(1, 2);
  return t;
}

// ---------------------------------------------------------------- mistakes

struct Mistake {
  const char *what, *word;  // the argument that the text must name
  bool (*applies)(Shape);
  void (*make)(Stage&, Random&, Try&, int members);
};
bool always(Shape) { return true; }
bool reduces(Shape shape) { return int(shape) >= int(Shape::reduce); }
bool is_broadcast(Shape shape) { return shape == Shape::broadcast; }
bool is_alltoall(Shape shape) { return shape == Shape::alltoall; }
bool is_alltoalls(Shape shape) { return shape == Shape::alltoalls; }
bool must_be_apart(Shape shape) { return shape == Shape::alltoall || reduces(shape); }

/// Wrong on their own.
const Mistake kMistakes[] = {
    {"null dest", "dest", always, [](Stage&, Random&, Try& t, int) { t.dest = nullptr; }},
    {"null source", "source", always, [](Stage&, Random&, Try& t, int) { t.source = nullptr; }},
    {"ordinary dest", "dest", always, [](Stage& s, Random&, Try& t, int) { t.dest = s.bench.ordinary; }},
    {"ordinary source", "source", always, [](Stage& s, Random&, Try& t, int) { t.source = s.bench.ordinary; }},
    {"dest of a peer's heap", "dest", always,
     [](Stage& s, Random& random, Try& t, int) {
       if (s.suite.pes == 1) return void(t.dest = nullptr);
       const int peer = (s.suite.me + random.between(1, s.suite.pes - 1)) % s.suite.pes;
       t.dest = static_cast<char*>(nvshmem_ptr(t.dest, peer));
     }},
    {"too many elements", "dest", always, [](Stage&, Random&, Try& t, int) { t.o.elements = size_t{1} << 40; }},
    {"dest not aligned", "dest", reduces, [](Stage&, Random& random, Try& t, int) { t.dest += random.between(1, 7); }},
    {"source not aligned", "source", reduces,
     [](Stage&, Random& random, Try& t, int) { t.source += random.between(1, 7); }},
    {"a root before the first", "PE_root", is_broadcast, [](Stage&, Random&, Try& t, int) { t.o.root = -1; }},
    {"a root after the last", "PE_root", is_broadcast, [](Stage&, Random&, Try& t, int m) { t.o.root = m; }},
    {"a root far away", "PE_root", is_broadcast, [](Stage&, Random&, Try& t, int) { t.o.root = 1 << 30; }},
    {"alltoall in place", "overlap", is_alltoall, [](Stage&, Random&, Try& t, int) { t.source = t.dest; }},
    {"dest in source", "overlap", must_be_apart,
     [](Stage&, Random&, Try& t, int) { t.dest = t.source + sizeof(Size); }},
    {"source in dest", "overlap", must_be_apart,
     [](Stage&, Random&, Try& t, int) { t.source = t.dest + sizeof(Size); }},
    {"dst 0", "dst", is_alltoalls, [](Stage&, Random&, Try& t, int) { t.o.dst = 0; }},
    {"negative sst", "sst", is_alltoalls, [](Stage&, Random&, Try& t, int) { t.o.sst = -2; }},
    {"dst too large", "dest", is_alltoalls, [](Stage&, Random&, Try& t, int) { t.o.dst = 1 << 30; }},
};

bool is_fixed(Shape shape) { return shape != Shape::collect; }
/// Right on their own, but not what the others say.
const Mistake kOpinions[] = {
    {"another size", "members", is_fixed, [](Stage&, Random&, Try& t, int) { ++t.o.elements; }},
    {"no elements", "members", is_fixed, [](Stage&, Random&, Try& t, int) { t.o.elements = 0; }},
    {"another dest", "members", is_fixed, [](Stage&, Random&, Try& t, int) { t.dest += sizeof(Size); }},
    {"another source", "members", is_fixed, [](Stage&, Random&, Try& t, int) { t.source += sizeof(Size); }},
    {"another root", "members", is_broadcast, [](Stage&, Random&, Try& t, int m) { t.o.root = (t.o.root + 1) % m; }},
    {"another dst", "members", is_alltoalls, [](Stage&, Random&, Try& t, int) { ++t.o.dst; }},
    {"another sst", "members", is_alltoalls, [](Stage&, Random&, Try& t, int) { ++t.o.sst; }},
    {"another operation", "members", always,
     [](Stage&, Random& random, Try& t, int) {
       t.o.number = (t.o.number + random.between(1, int(kEveryShape.size()) - 1)) % int(kEveryShape.size());
     }},
};

// ---------------------------------------------------------------- cases

/// `who`: the member that errs, or -1 for all. Every member must be told: of its own mistake by name.
void run_mistake(Stage& s, Random& random, Scope scope, const Kind& kind, const Mistake& mistake, int who,
                 bool opinion) {
  Suite& suite = s.suite;
  const Team& team = s.teams[random.below(s.teams.size())];
  const int number = number_among(team.members, suite.me);
  if (who >= 0) who = random.between(0, team.size() - 1);
  Try t = draw_try(s, random, kind, team.size());
  const dim3 block = one_group(random, scope, 40);
  Random luck(random.word());
  const bool mine = who < 0 || who == number;
  const bool alone = opinion && team.size() == 1;  // then nobody disagrees
  s.bench.start(random);
  if (number >= 0 && !alone) {
    if (mine) mistake.make(s, luck, t, team.size());
    const std::string what = std::string(kind.name) + " by " + kScopes[int(scope)] + ", " + mistake.what;
    int status = 0;
    // On a stream the kernel may be so quick that the call itself already tells of its fault.
    const char* word = scope == Scope::stream && (!mine || opinion) ? nullptr : mine ? mistake.word : "members";
    s.bench.expect(what.c_str(), word, [&] {
      status = s.make(scope, team.handle, t, block);
      if (word || is_in_kernel(scope)) return;
      suite.synchronize();
      nvshmemx_quiet_on_stream(suite.stream);  // what the call could not tell yet
    });
    if (status == 0 && (scope != Scope::stream || (mine && !opinion))) suite.wrong("%s: status 0", what.c_str());
    Silence silence;
    if (is_in_kernel(scope))
      s.expect_told();
    else
      nvshmemx_quiet_on_stream(suite.stream);
  }
  nvshmem_barrier_all();
  s.bench.check_untouched(mistake.what);
  if (number >= 0) s.check_team_works(scope, team, block);
  nvshmem_barrier_all();
}

/// All kinds that the mistakes apply to, in turn.
template <size_t N>
void run_mistakes(Stage& s, const std::string& family, Scope scope, const Mistake (&mistakes)[N], int who, bool opinion,
                  int rounds) {
  for (const Mistake& mistake : mistakes) {
    std::vector<Kind> kinds;
    for (const Kind& kind : kEveryShape)
      if (mistake.applies(kind.shape)) kinds.push_back(kind);
    if (kinds.empty()) continue;
    s.suite.family("errors." + family + ": " + mistake.what + " by " + kScopes[int(scope)], rounds * int(kinds.size()),
                   [&](Random& random, int index) {
                     run_mistake(s, random, scope, kinds[size_t(index) % kinds.size()], mistake, who, opinion);
                   });
  }
}

/// No such team, or none of the caller's: no one to meet, so the call comes back at once.
void run_bad_team(Stage& s, Random& random, Scope scope) {
  Suite& suite = s.suite;
  s.bench.start(random);
  std::vector<nvshmem_team_t> bad{NVSHMEM_TEAM_INVALID, 999, -5, 1 << 30, 1024, 4, 5};
  const dim3 block = one_group(random, scope, 40);
  for (const nvshmem_team_t team : bad)
    for (const Kind& kind : kEveryShape) {
      const Try t = draw_try(s, random, kind, suite.pes);
      const std::string what =
          std::string(kind.name) + " by " + kScopes[int(scope)] + " of team " + std::to_string(team);
      int status = 0;
      s.bench.expect(what.c_str(), "team", [&] { status = s.make(scope, team, t, block); });
      if (status == 0) suite.wrong("%s: status 0", what.c_str());
    }
  {
    Silence silence;
    nvshmemx_quiet_on_stream(suite.stream);
  }
  nvshmem_barrier_all();
  s.bench.check_untouched("bad team");
  s.check_team_works(scope, s.teams[0], block);
  nvshmem_barrier_all();
}

#ifdef CAUSEWAY_CPU
// ---------------------------------------------------------------- the index of the greatest

__global__ void maxloc(nvshmem_team_t team, double2* dest, const double2* source, size_t elements, int* bad) {
  if (nvshmemx_double2_maxloc_reduce_block(team, dest, source, elements)) atomicAdd(bad, 1);
}
void run_maxloc(Stage& s, Random& random, int way) {
  Suite& suite = s.suite;
  s.bench.start(random);
  const bool apart = suite.me == random.between(0, suite.pes - 1);
  auto* dest = reinterpret_cast<double2*>(s.bench.target);
  auto* source = reinterpret_cast<double2*>(s.bench.source);
  const char* word = way == 2                                ? "team"
                     : way == 4 && (apart || suite.pes == 1) ? "source"
                     : way < 3                               ? "dest"
                                                             : "members";
  if (way == 0) dest = nullptr;
  if (way == 1) dest = reinterpret_cast<double2*>(s.bench.target + 8);
  if (way == 4 && apart) source = reinterpret_cast<double2*>(s.bench.ordinary);
  if (way == 3 && suite.pes == 1) return;
  CHECK(cudaMemsetAsync(s.bad_status, 0, sizeof(int), suite.stream));
  s.bench.expect("maxloc", word, [&] {
    maxloc<<<1, 20, 0, suite.stream>>>(way == 2 ? 999 : NVSHMEM_TEAM_WORLD, dest, source, way == 3 && apart ? 4 : 3,
                                       s.bad_status);
    CHECK(cudaGetLastError());
    suite.synchronize();
  });
  int bad = 0;
  copy(&bad, s.bad_status, sizeof bad, suite.stream);
  suite.equal(bad, 20, "threads of maxloc that had a status");
  s.expect_told();
  nvshmem_barrier_all();
  s.bench.check_untouched("maxloc");
  s.check_team_works(Scope::block, s.teams[0], dim3(20));
  nvshmem_barrier_all();
}
#endif

}  // namespace

int main(int argc, char** argv) {
  Suite suite(argc, argv);
  suite.init();
  Stage stage(suite);
  const int rounds = (suite.cases + 29) / 30;
  for (Scope scope : kAllScopes) {
#ifndef CAUSEWAY_CPU
    if (is_in_kernel(scope)) continue;  // there kernels check their arguments in debug builds only
#endif
    suite.family(std::string("errors.bad team by ") + kScopes[int(scope)], rounds,
                 [&](Random& random, int) { run_bad_team(stage, random, scope); });
    run_mistakes(stage, "all", scope, kMistakes, -1, false, rounds);
    run_mistakes(stage, "one", scope, kMistakes, 0, false, rounds);
    run_mistakes(stage, "disagree", scope, kOpinions, 0, true, rounds);
  }
#ifdef CAUSEWAY_CPU
  suite.family("errors.maxloc", 5 * rounds, [&](Random& random, int index) { run_maxloc(stage, random, index % 5); });
#endif
  stage.free();
  return suite.finish();
}
