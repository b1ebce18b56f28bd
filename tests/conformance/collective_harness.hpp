// What the programs about collectives share: operations as data, teams, arenas, and a case with its model.
//
// A case is a row of operations of one type on one team, with nothing between them. Every member then compares its
// whole destination, guards and all, with a model; where the result is the same everywhere, also its bits with the
// others'.
#pragma once
#include "any_team.hpp"
#include "harness.hpp"
#include "reduction_model.hpp"
#include "scope.hpp"

// What the reference's headers do not have.
#if defined(CAUSEWAY_VERSION)
#define CAUSEWAY_ONLY(...) __VA_ARGS__
#else
#define CAUSEWAY_ONLY(...)
#endif
#define EVERYWHERE(...) __VA_ARGS__

namespace conformance {

/// How the destinations follow from the sources.
enum class Shape { broadcast, fcollect, collect, alltoall, alltoalls, reduce, reducescatter, inscan, exscan };

/// An operation of a program: `number` is what the calls of a type are chosen by.
struct Kind {
  const char* name;
  int number;
  Shape shape;
  Operator op = Operator::sum;
};

template <class T>
struct Arguments {
  nvshmem_team_t team;
  T* dest;
  const T* source;
  size_t elements;
  int root;
  ptrdiff_t dst, sst;
};

/// A call, as the caller makes it.
struct Operation {
  int number;
  uint64_t dest, source;  // offsets in the arenas; the source is in the destination's arena in dest
  uint64_t elements;
  int root, in_place;
  int64_t dst, sst;
};

/// All operations of a case, one after the other, by one group.
struct Row {
  Scope scope;
  nvshmem_team_t team;
  char *dest, *source;
  const Operation* operations;
  int count;
  int* bad_status;
};

template <class T>
__host__ __device__ Arguments<T> arguments_of(const Row& row, const Operation& o) {
  return {row.team,
          reinterpret_cast<T*>(row.dest + o.dest),
          reinterpret_cast<const T*>((o.in_place ? row.dest : row.source) + o.source),
          o.elements,
          o.root,
          o.dst,
          o.sst};
}
template <class Calls>
__global__ void run_row(Row row) {
  for (int i = 0; i < row.count; ++i) {
    const Operation& o = row.operations[i];
    const auto arguments = arguments_of<typename Calls::Element>(row, o);
    int status = 0;
    if (row.scope == Scope::thread)
      status = Calls::thread(o.number, arguments);
    else if (row.scope == Scope::warp)
      status = Calls::warp(o.number, arguments);
    else
      status = Calls::block(o.number, arguments);
    if (status) atomicAdd(row.bad_status, 1);
  }
}
template <class Calls>
void launch_row(const Row& from, dim3 block, cudaStream_t stream) {
  Row row = from;
  void* arguments[] = {&row};
  CHECK(nvshmemx_collective_launch((const void*)run_row<Calls>, dim3(1), block, arguments, 0, stream));
}
template <class Calls>
int call_one(const Row& row, const Operation& o, cudaStream_t stream) {
  const auto arguments = arguments_of<typename Calls::Element>(row, o);
  return row.scope == Scope::host ? Calls::host(o.number, arguments) : Calls::on_stream(o.number, arguments, stream);
}

/// The calls of one type. fill and check belong to reductions; others move any bytes.
struct Type {
  const char* name;
  size_t size;
  void (*launch)(const Row&, dim3 block, cudaStream_t);
  int (*call)(const Row&, const Operation&, cudaStream_t);
  void (*fill)(Operator, char*, uint64_t key, size_t elements, bool whole) = nullptr;
  void (*check)(Suite&, Operator, const Inputs&, const char* got, size_t elements, bool whole) = nullptr;
};

// ---------------------------------------------------------------- teams and arenas

struct Team {
  nvshmem_team_t handle;     // invalid where a PE is no member
  std::vector<int> members;  // as members know them; of the predefined ones a PE knows its own
  int size() const { return int(members.size()); }
};

constexpr size_t kArena = 1 << 20;
constexpr size_t kOperationBytes = 200000;  // at most, of one operation's source or destination
constexpr int kOperationsMax = 4;           // of a case
constexpr int kRowMax = 16;                 // of any row

struct Bench {
  Suite& suite;
  std::vector<Team> teams;
  char *dest, *source;
  uint64_t *digests, *word;  // symmetric; digests by PE
  Operation* operations;
  int* bad_status;

  Bench(Suite& s, Random random) : suite(s) {
    CHECK(dest = static_cast<char*>(nvshmem_align(256, kArena)));
    CHECK(source = static_cast<char*>(nvshmem_align(256, kArena)));
    CHECK(digests = static_cast<uint64_t*>(nvshmem_calloc(size_t(suite.pes), sizeof(uint64_t))));
    CHECK(word = static_cast<uint64_t*>(nvshmem_calloc(1, sizeof(uint64_t))));
    CHECK(cudaMalloc(&operations, kRowMax * sizeof(Operation)));
    CHECK(cudaMalloc(&bad_status, sizeof(int)));
    for (nvshmem_team_t team : {NVSHMEM_TEAM_WORLD, NVSHMEMX_TEAM_NODE, NVSHMEMX_TEAM_SAME_MYPE_NODE})
      add_predefined(team);
    split(suite.pes - 1, -1, suite.pes);
    split(0, 2, (suite.pes + 1) / 2);
    split(suite.pes / 2, 1, 1);
    for (int i = 0; i < 3; ++i) {  // these overlap
      const int stride = random.between(1, 3), first = random.between(0, suite.pes - 1);
      split(first, stride, random.between(1, (suite.pes - 1 - first) / stride + 1));
    }
    for (int i = 0; i < 4; ++i) {  // any PEs in any order
      const auto members = draw_members(random, suite.pes, random.between(1, suite.pes));
      teams.push_back({init_team(suite, pass_id(suite, word, members[0]), members), members});
    }
  }
  const Team& draw_team(Random& random) const { return teams[random.chance(25) ? 0 : random.below(teams.size())]; }
  void free() {
    for (const Team& team : teams)
      if (team.handle > NVSHMEMX_TEAM_SAME_MYPE_NODE) nvshmem_team_destroy(team.handle);
    CHECK(cudaFree(bad_status));
    CHECK(cudaFree(operations));
    nvshmem_free(word);
    nvshmem_free(digests);
    nvshmem_free(source);
    nvshmem_free(dest);
  }

 private:
  void add_predefined(nvshmem_team_t handle) {
    Team team{handle, {}};
    for (int number = 0; number < nvshmem_team_n_pes(handle); ++number)
      team.members.push_back(nvshmem_team_translate_pe(handle, number, NVSHMEM_TEAM_WORLD));
    teams.push_back(team.members.empty() ? teams[0] : team);
  }
  void split(int first, int stride, int size) {
    Team team{NVSHMEM_TEAM_INVALID, {}};
    for (int i = 0; i < size; ++i) team.members.push_back(first + i * stride);
    CHECK(nvshmem_team_split_strided(NVSHMEM_TEAM_WORLD, first, stride, size, nullptr, 0, &team.handle));
    teams.push_back(team);
  }
};

/// What all members know of an operation.
struct Drawn {
  Kind kind;
  Operation o;
  std::vector<size_t> counts;  // elements by member: unequal for collect alone
  size_t dest_elements;        // that belong to it, strides included

  size_t source_elements(size_t member) const {
    const size_t all = counts[member] * counts.size();
    if (kind.shape == Shape::alltoall || kind.shape == Shape::reducescatter) return all;
    if (kind.shape == Shape::alltoalls) return all ? (all - 1) * size_t(o.sst) + 1 : 0;
    return counts[member];
  }
};

inline Drawn draw_operation(Random& random, const Kind& kind, size_t size, int members) {
  Drawn d{kind, {}, {}, 0};
  const Shape shape = kind.shape;
  Operation& o = d.o;
  o.number = kind.number, o.root = random.between(0, members - 1);
  o.dst = shape == Shape::alltoalls ? random.between(1, 5) : 1;
  o.sst = shape == Shape::alltoalls ? random.between(1, 5) : 1;
  const bool many = shape == Shape::fcollect || shape == Shape::collect || shape == Shape::alltoall ||
                    shape == Shape::alltoalls || shape == Shape::reducescatter;
  const size_t times = (many ? size_t(members) : 1) * size_t(std::max(o.dst, o.sst));
  const size_t most = std::min(size_t{5000}, kOperationBytes / (size * times));
  d.counts.assign(size_t(members), random.length(most));
  size_t sum = d.counts[0] * size_t(members);
  if (shape == Shape::collect) {
    sum = 0;
    for (size_t& count : d.counts) sum += count = random.chance(25) ? 0 : random.length(most);
  }
  o.in_place = (shape == Shape::broadcast || int(shape) >= int(Shape::reduce)) && random.chance(30);
  d.dest_elements = shape == Shape::alltoalls                               ? (sum ? (sum - 1) * size_t(o.dst) + 1 : 0)
                    : many && (shape != Shape::reducescatter || o.in_place) ? sum
                                                                            : d.counts[0];
  return d;
}

// ---------------------------------------------------------------- a case, in steps: also those of a graph replay

class Case {
 public:
  Case(Bench& bench, const Type& type, const Team& team) : b_(bench), type_(type), team_(team) {}

  /// Appends further operations behind those that are there.
  void add(Random& random, const Kind& kind) {
    Drawn d = draw_operation(random, kind, type_.size, team_.size());
    const size_t size = type_.size;
    size_t source_bytes = 0;  // on whichever member has most
    for (size_t member = 0; member < d.counts.size(); ++member)
      source_bytes = std::max(source_bytes, d.source_elements(member) * size);
    dest_end_ = (dest_end_ + size - 1) / size * size + size * random.below(17);
    source_end_ = (source_end_ + size - 1) / size * size + size * random.below(17);
    d.o.dest = dest_end_, d.o.source = d.o.in_place ? dest_end_ : source_end_;
    const int number = number_among(team_.members, b_.suite.me);
    d.o.elements = number < 0 ? 0 : d.counts[size_t(number)];
    dest_end_ += d.dest_elements * size + kGuard;
    if (!d.o.in_place) source_end_ += source_bytes;
    drawn_.push_back(d);
  }
  std::vector<Operation> operations() const {
    std::vector<Operation> all;
    for (const Drawn& d : drawn_) all.push_back(d.o);
    return all;
  }
  Row row(Scope scope) const {
    return {scope, team_.handle, b_.dest, b_.source, b_.operations, int(drawn_.size()), b_.bad_status};
  }

  /// New contents here. Others may have entered the collective already: only its own meeting keeps them from looking at
  /// sources that are not ready, and from writing to destinations that are still being filled.
  void fill(Random& random) {
    Suite& suite = b_.suite;
    const uint64_t key = random.word();
    whole_ = random.chance(50);
    expected_ = pattern(key ^ mix(uint64_t(suite.me)), std::min(kArena, dest_end_ + 1024));
    std::vector<char> source(source_end_, char(0x5a));
    sources_.assign(drawn_.size(), Sources(team_.members.size()));
    for (size_t i = 0; i < drawn_.size(); ++i) {
      const Drawn& d = drawn_[i];
      for (size_t member = 0; member < team_.members.size(); ++member) {
        auto& bytes = sources_[i][member];
        bytes.resize(d.source_elements(member) * type_.size);
        const uint64_t stream = mix(key + i) ^ mix(uint64_t(member));
        if (type_.fill)
          type_.fill(d.kind.op, bytes.data(), stream, bytes.size() / type_.size, whole_);
        else
          pattern(bytes.data(), stream, 0, bytes.size());
        if (team_.members[member] == suite.me && !bytes.empty())
          std::memcpy((d.o.in_place ? expected_ : source).data() + d.o.source, bytes.data(), bytes.size());
      }
    }
    copy(b_.dest, expected_.data(), expected_.size(), suite.stream);
    copy(b_.source, source.data(), source.size(), suite.stream);
  }

  void compare() {
    Suite& suite = b_.suite;
    std::vector<char> got(expected_.size());
    copy(got.data(), b_.dest, got.size(), suite.stream);
    for (size_t i = 0; i < drawn_.size(); ++i)
      if (drawn_[i].dest_elements > 0) put_expected(drawn_[i], sources_[i], got.data());
    suite.same(got.data(), expected_.data(), got.size(),
               (std::string(drawn_[0].kind.name) + " of " + type_.name).c_str());
    compare_digests(got);
  }

 private:
  /// What the operation leaves, into expected_. Results of reductions are judged here, and then are what is expected.
  void put_expected(const Drawn& d, const Sources& sources, const char* got) {
    char* dest = expected_.data() + d.o.dest;
    const size_t size = type_.size, n = d.o.elements, me = size_t(number_among(team_.members, b_.suite.me));
    switch (d.kind.shape) {
      case Shape::broadcast:
        std::memcpy(dest, sources[size_t(d.o.root)].data(), n * size);
        return;
      case Shape::fcollect:
      case Shape::collect:
        for (const auto& bytes : sources) dest = std::copy(bytes.begin(), bytes.end(), dest);
        return;
      case Shape::alltoall:
      case Shape::alltoalls:
        for (size_t i = 0; i < sources.size(); ++i)
          for (size_t k = 0; k < n; ++k)
            std::memcpy(dest + (i * n + k) * size_t(d.o.dst) * size,
                        sources[i].data() + (me * n + k) * size_t(d.o.sst) * size, size);
        return;
      default:
        break;
    }
    Inputs inputs;
    const size_t first = d.kind.shape == Shape::reducescatter ? me * n * size : 0;
    const size_t members = d.kind.shape == Shape::inscan ? me + 1 : d.kind.shape == Shape::exscan ? me : sources.size();
    for (size_t member = 0; member < members; ++member) inputs.push_back(sources[member].data() + first);
    type_.check(b_.suite, d.kind.op, inputs, got + d.o.dest, n, whole_);
    std::memcpy(dest, got + d.o.dest, d.dest_elements * size);
  }

  /// Where results are the same on all members, they have the same bits.
  void compare_digests(const std::vector<char>& got) {
    Suite& suite = b_.suite;
    uint64_t mine = 1;
    for (const Drawn& d : drawn_)
      if (int(d.kind.shape) <= int(Shape::collect) || d.kind.shape == Shape::reduce)
        for (size_t k = 0; k < d.dest_elements * type_.size; ++k)
          mine = mine * 1099511628211u + uint64_t(uint8_t(got[d.o.dest + k]));
    copy(b_.digests + suite.me, &mine, sizeof mine, suite.stream);
    suite.equal(nvshmem_barrier(team_.handle), 0, "status of barrier");
    for (const int pe : team_.members)
      suite.equal(nvshmem_uint64_g(b_.digests + pe, pe), mine, "digest of a member's results");
    suite.equal(nvshmem_barrier(team_.handle), 0, "status of barrier");
  }

  Bench& b_;
  const Type& type_;
  const Team& team_;
  std::vector<Drawn> drawn_;
  std::vector<Sources> sources_;  // by operation, by member
  std::vector<char> expected_;
  size_t dest_end_ = kGuard, source_end_ = 0;
  bool whole_ = true;
};

/// One row of `kind`, with now and then another of `kinds` in it.
inline void run_case(Bench& b, Random& random, const Type& type, const Kind& kind, const std::vector<Kind>& kinds,
                     Scope scope) {
  Suite& suite = b.suite;
  const Team& team = b.draw_team(random);
  Case c(b, type, team);
  for (int left = random.between(1, kOperationsMax); left > 0; --left)
    c.add(random, random.chance(75) ? kind : kinds[random.below(kinds.size())]);
  Random contents(random.word());
  const dim3 block = one_group(random, scope, 130);
  const bool late = suite.me == team.members[random.below(uint64_t(team.size()))] && random.chance(40);
  nvshmem_barrier_all();
  if (team.handle == NVSHMEM_TEAM_INVALID) return;
  if (late) usleep(2000);
  c.fill(contents);

  const Row row = c.row(scope);
  const std::vector<Operation> operations = c.operations();
  if (is_in_kernel(scope)) {
    copy(b.operations, operations.data(), operations.size() * sizeof(Operation), suite.stream);
    CHECK(cudaMemsetAsync(b.bad_status, 0, sizeof(int), suite.stream));
    type.launch(row, block, suite.stream);
    int bad = 0;
    copy(&bad, b.bad_status, sizeof bad, suite.stream);
    suite.equal(bad, 0, "calls with a status in the kernel");
  } else {
    for (const Operation& o : operations) suite.equal(type.call(row, o, suite.stream), 0, "status");
    suite.synchronize();
  }
  c.compare();
}

/// Families of one program: every kind by every scope; cases take the types in turn. Long runs are cut: there are many.
inline void run_families(Bench& b, const std::string& program, const std::vector<Kind>& kinds,
                         const std::vector<Type>& types, const std::vector<Scope>& scopes, int cases) {
  for (const Kind& kind : kinds)
    for (Scope scope : scopes) {
      size_t next = b.suite.seed * 7 + size_t(kind.number) * 5 + size_t(scope) * 11;
      b.suite.family(program + "." + kind.name + " " + kScopes[int(scope)], cases, [&](Random& random, int) {
        run_case(b, random, types[next++ % types.size()], kind, kinds, scope);
      });
    }
}

}  // namespace conformance
