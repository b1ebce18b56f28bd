// Barriers and syncs: of all PEs and of teams, from kernels of every scope, from the host and on streams.
//
// In each round every member says to every member which round it is in. After the meeting, everyone must have said this
// round, or the next one at most: nobody can be further, since that takes another meeting with this PE.
#include "harness.hpp"
#include "scope.hpp"

using namespace conformance;

namespace {

struct Team {
  nvshmem_team_t handle;
  bool whole;  // the world itself: has calls of its own
  int first, stride, size;
  __host__ __device__ int pe(int member) const { return first + member * stride; }
};

/// Rounds without a word: meetings with nothing between them.
__host__ __device__ inline bool is_bare(unsigned seed, int round) {
  return (seed ^ (unsigned(round) * 2654435761u)) % 3 == 0;
}

// ---------------------------------------------------------------- the meetings in kernels

struct Meeting {
  Scope scope;
  bool completes;  // barrier, not sync
  Team team;
  int* said;  // symmetric, by world PE
  int rounds, start;
  unsigned seed;
  int* wrong;
};

__device__ inline int meet(const Meeting& m) {
  if (m.team.whole && m.seed % 2) {
    if (m.scope == Scope::thread)
      m.completes ? nvshmem_barrier_all() : nvshmem_sync_all();
    else if (m.scope == Scope::warp)
      m.completes ? nvshmemx_barrier_all_warp() : nvshmemx_sync_all_warp();
    else
      m.completes ? nvshmemx_barrier_all_block() : nvshmemx_sync_all_block();
    return 0;
  }
  if (m.scope == Scope::thread) return m.completes ? nvshmem_barrier(m.team.handle) : nvshmem_team_sync(m.team.handle);
  if (m.scope == Scope::warp)
    return m.completes ? nvshmemx_barrier_warp(m.team.handle) : nvshmemx_team_sync_warp(m.team.handle);
  return m.completes ? nvshmemx_barrier_block(m.team.handle) : nvshmemx_team_sync_block(m.team.handle);
}

/// A barrier completes puts; a sync shows stores to the PE's own memory.
__device__ inline void say(const Meeting& m, int round, unsigned thread, unsigned threads) {
  const int me = nvshmem_my_pe();
  if (!m.completes) {
    if (thread == unsigned(round) % threads) *static_cast<volatile int*>(m.said + me) = round;
    return;
  }
  for (unsigned member = thread; member < unsigned(m.team.size); member += threads)
    nvshmem_int_p(m.said + me, round, m.team.pe(int(member)));
}

__device__ inline void listen(const Meeting& m, int round, unsigned thread, unsigned threads) {
  for (unsigned member = thread; member < unsigned(m.team.size); member += threads) {
    const int pe = m.team.pe(int(member));
    const int said = m.completes ? *static_cast<volatile int*>(m.said + pe) : nvshmem_int_g(m.said + pe, pe);
    if (said != round && said != round + 1) atomicAdd(m.wrong, 1);
  }
}

__global__ void meet_in_kernel(Meeting m) {
  const unsigned thread = thread_in_block(), threads = threads_in_block();
  for (int round = m.start; round < m.start + m.rounds; ++round) {
    const unsigned luck = (m.seed + unsigned(nvshmem_my_pe())) * 40503u ^ unsigned(round) * 2246822519u;
    const bool bare = is_bare(m.seed, round);
    if (luck % 11 == 0) dally(m.wrong, luck % 300);
    if (!bare) say(m, round, thread, threads);
    if (meet(m) != 0) atomicAdd(m.wrong, 1);
    if (!bare) listen(m, round, thread, threads);
  }
}

/// Of stream forms: what is said and heard between two of them.
__global__ void say_once(Meeting m) { say(m, m.start, thread_in_block(), threads_in_block()); }
__global__ void listen_once(Meeting m) { listen(m, m.start, thread_in_block(), threads_in_block()); }

// ---------------------------------------------------------------- one round each, from the host

int meet_on_host(const Meeting& m) {
  if (m.team.whole && m.seed % 2) {
    if (m.completes)
      nvshmem_barrier_all();
    else
      nvshmem_sync_all();
    return 0;
  }
  return m.completes ? nvshmem_barrier(m.team.handle) : nvshmem_team_sync(m.team.handle);
}
int meet_on_stream(const Meeting& m, cudaStream_t stream) {
  if (m.team.whole && m.seed % 2) {
    if (m.completes)
      nvshmemx_barrier_all_on_stream(stream);
    else
      nvshmemx_sync_all_on_stream(stream);
    return 0;
  }
  return m.completes ? nvshmemx_barrier_on_stream(m.team.handle, stream)
                     : nvshmemx_team_sync_on_stream(m.team.handle, stream);
}

void host_round(Suite& suite, const Meeting& m, int round) {
  if (is_bare(m.seed, round)) {
    suite.equal(meet_on_host(m), 0, "status");
    return;
  }
  if (mix(m.seed + unsigned(suite.me) + unsigned(round)) % 9 == 0) usleep(200);
  if (m.completes)
    for (int member = 0; member < m.team.size; ++member) nvshmem_int_p(m.said + suite.me, round, m.team.pe(member));
  else
    copy(m.said + suite.me, &round, sizeof round, suite.stream);
  suite.equal(meet_on_host(m), 0, "status");
  std::vector<int> said(static_cast<size_t>(suite.pes));
  if (m.completes) copy(said.data(), m.said, said.size() * sizeof(int), suite.stream);
  for (int member = 0; member < m.team.size; ++member) {
    const int pe = m.team.pe(member), heard = m.completes ? said[size_t(pe)] : nvshmem_int_g(m.said + pe, pe);
    if (heard != round && heard != round + 1) suite.wrong("PE %d is in round %d, not %d or the next", pe, heard, round);
  }
}

void stream_round(Suite& suite, Meeting m, int round) {
  const bool bare = is_bare(m.seed, round);
  m.start = round;
  if (!bare) say_once<<<1, 4, 0, suite.stream>>>(m);
  suite.equal(meet_on_stream(m, suite.stream), 0, "status");
  if (!bare) listen_once<<<1, 4, 0, suite.stream>>>(m);
  CHECK(cudaGetLastError());
}

void kernel_rounds(Suite& suite, Meeting m, Random& random) {
  const dim3 block = m.scope == Scope::thread ? dim3(1)
                     : m.scope == Scope::warp ? dim3(32)
                                              : random_block(random, 130, false);
  void* arguments[] = {&m};
  CHECK(nvshmemx_collective_launch((const void*)meet_in_kernel, dim3(1), block, arguments, 0, suite.stream));
}

// ---------------------------------------------------------------- cases

struct Bench {
  Suite& suite;
  std::vector<Team>
      teams;  // those that this PE is in; each has the same index on all PEs, others hold an invalid handle
  int *said, *wrong;
  int round = 1;  // never restarted: what was said before is old

  explicit Bench(Suite& s, Random random) : suite(s) {
    CHECK(said = static_cast<int*>(nvshmem_calloc(size_t(suite.pes), sizeof(int))));
    CHECK(cudaMalloc(&wrong, sizeof(int)));
    CHECK(cudaMemsetAsync(wrong, 0, sizeof(int), suite.stream));
    teams.push_back({NVSHMEM_TEAM_WORLD, true, 0, 1, suite.pes});
    add(0, 1, suite.pes);  // everyone, but not the world itself
    add(0, 2, (suite.pes + 1) / 2);
    if (suite.pes > 1) add(1, 2, suite.pes / 2);
    add(suite.pes - 1, -1, suite.pes);  // backwards
    add(suite.pes - 1, 1, 1);           // alone
    for (int i = 0; i < 3; ++i) {
      const int stride = random.between(1, 3), first = random.between(0, suite.pes - 1);
      add(first, stride, random.between(1, (suite.pes - 1 - first) / stride + 1));
    }
  }
  void free() {
    for (size_t i = 1; i < teams.size(); ++i) nvshmem_team_destroy(teams[i].handle);
    CHECK(cudaFree(wrong));
    nvshmem_free(said);
  }
  void add(int first, int stride, int size) {
    Team team{NVSHMEM_TEAM_INVALID, false, first, stride, size};
    CHECK(nvshmem_team_split_strided(NVSHMEM_TEAM_WORLD, first, stride, size, nullptr, 0, &team.handle));
    teams.push_back(team);
  }
  void none_wrong(const char* what) {
    int count = 0;
    copy(&count, wrong, sizeof count, suite.stream);
    suite.equal(count, 0, what);
    CHECK(cudaMemsetAsync(wrong, 0, sizeof(int), suite.stream));
    suite.synchronize();
  }
};

void run_rounds(Bench& b, Random& random, bool completes, Scope scope, int rounds) {
  Meeting m{scope,  completes, b.teams[random.below(b.teams.size())], b.said, rounds, b.round, unsigned(random.word()),
            b.wrong};
  b.round += rounds + 2;
  nvshmem_barrier_all();
  if (m.team.handle == NVSHMEM_TEAM_INVALID) return;
  if (scope == Scope::host)
    for (int i = 0; i < rounds; ++i) host_round(b.suite, m, m.start + i);
  else if (scope == Scope::stream)
    for (int i = 0; i < rounds; ++i) stream_round(b.suite, m, m.start + i);
  else
    kernel_rounds(b.suite, m, random);
  b.suite.synchronize();
  b.none_wrong("members in another round");
}

/// One team, one round after the other in whatever form.
void run_mixed(Bench& b, Random& random) {
  Team team = b.teams[random.below(b.teams.size())];
  nvshmem_barrier_all();
  for (int i = 0; i < 30; ++i, b.round += 2) {
    Meeting m{
        Scope(random.between(0, 4)), random.chance(50), team, b.said, 1, b.round, unsigned(random.word()), b.wrong};
    Random shape(random.word());
    if (team.handle == NVSHMEM_TEAM_INVALID) continue;
    if (m.scope == Scope::host) {
      b.suite.synchronize();
      host_round(b.suite, m, m.start);
    } else if (m.scope == Scope::stream) {
      stream_round(b.suite, m, m.start);
    } else {
      kernel_rounds(b.suite, m, shape);
    }
    // A sync's words are read from their owner, who must not go on before: the next form may be another kind.
    b.suite.synchronize();
    b.suite.equal(nvshmem_team_sync(team.handle), 0, "status");
  }
  b.none_wrong("members in another round");
}

/// Two teams of everyone meet on two streams; half of the PEs come to the one first, half to the other.
void run_crossed(Bench& b, Random& random, const Team& one, const Team& two, cudaStream_t other_stream) {
  Suite& suite = b.suite;
  const int rounds = 20;
  nvshmem_barrier_all();
  for (int i = 0; i < rounds; ++i) {
    const bool one_first = ((suite.me ^ i ^ int(random.below(2))) & 1) == 0;
    const bool twice[2] = {random.chance(20), random.chance(20)};  // of each team: drawn before the orders differ
    for (int step = 0; step < 2; ++step) {
      const bool is_one = (step == 0) == one_first;
      const nvshmem_team_t team = is_one ? one.handle : two.handle;
      const cudaStream_t stream = is_one ? suite.stream : other_stream;
      suite.equal(nvshmemx_barrier_on_stream(team, stream), 0, "status");
      if (twice[is_one]) suite.equal(nvshmemx_team_sync_on_stream(team, stream), 0, "status");
    }
  }
  suite.synchronize();
  CHECK(cudaStreamSynchronize(other_stream));
}

}  // namespace

int main(int argc, char** argv) {
  Suite suite(argc, argv);
  suite.init();
  Bench bench(suite, Random(suite.seed));
  for (bool completes : {true, false})
    for (Scope scope : kAllScopes) {
      const int rounds = scope == Scope::host ? 40 : scope == Scope::stream ? 100 : 300;
      suite.family(std::string("meet.") + (completes ? "barrier " : "sync ") + kScopes[int(scope)],
                   (suite.cases + 2) / 3,
                   [&](Random& random, int) { run_rounds(bench, random, completes, scope, rounds); });
    }
  suite.family("meet.mixed", (suite.cases + 2) / 3, [&](Random& random, int) { run_mixed(bench, random); });
  cudaStream_t other;
  CHECK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
  suite.family("meet.crossed streams", (suite.cases + 2) / 3,
               [&](Random& random, int) { run_crossed(bench, random, bench.teams[1], bench.teams[4], other); });
  CHECK(cudaStreamDestroy(other));
  bench.free();
  return suite.finish();
}
