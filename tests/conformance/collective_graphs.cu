// Collectives where their order matters: captured in graphs and replayed, on the same buffers back to back, of two
// teams on two streams that PEs launch in different orders, and loops whose roots change all the time.
#include "every_shape.hpp"

using namespace conformance;

namespace {

// ---------------------------------------------------------------- graphs

/// A captured row of operations.
class Graph {
 public:
  Graph(Suite& suite, const Type& type, const Row& row, const std::vector<Operation>& operations) {
    CHECK(cudaStreamBeginCapture(suite.stream, cudaStreamCaptureModeThreadLocal));
    for (const Operation& o : operations) suite.equal(type.call(row, o, suite.stream), 0, "status while capturing");
    CHECK(cudaStreamEndCapture(suite.stream, &graph_));
    CHECK(cudaGraphInstantiate(&executable_, graph_, 0));
  }
  ~Graph() {
    CHECK(cudaGraphExecDestroy(executable_));
    CHECK(cudaGraphDestroy(graph_));
  }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  void launch(cudaStream_t stream) const { CHECK(cudaGraphLaunch(executable_, stream)); }

 private:
  cudaGraph_t graph_{};
  cudaGraphExec_t executable_{};
};

/// Some operations in one graph, replayed with new data.
void run_graph(Bench& b, Random& random) {
  Suite& suite = b.suite;
  const Type& type = kSomeTypes[random.below(kSomeTypes.size())];
  const Team& team = b.draw_team(random);
  Case c(b, type, team);
  for (int left = random.between(1, kOperationsMax); left > 0; --left)
    c.add(random, kEveryShape[random.below(kEveryShape.size())]);
  const uint64_t key = random.word();
  nvshmem_barrier_all();
  if (team.handle == NVSHMEM_TEAM_INVALID) return;
  const Graph graph(suite, type, c.row(Scope::stream), c.operations());
  for (int replay = 0; replay < 5; ++replay) {
    Random contents(key + uint64_t(replay));
    c.fill(contents);
    graph.launch(suite.stream);
    suite.synchronize();
    c.compare();
  }
}

// ---------------------------------------------------------------- the same buffers, back to back

/// Two buffers on every member, of a chunk for each, and what operations from one to the other make of them.
struct Chain {
  using Buffer = std::vector<uint64_t>;
  size_t n, members;
  std::vector<Buffer> buffers[2];  // by member

  static uint64_t combine(int number, uint64_t a, uint64_t b) { return number == kMax ? std::max(a, b) : a + b; }
  /// All members' results, from what was there before.
  void apply(const Kind& kind, int from, int to, int root) {
    const std::vector<Buffer> source = buffers[from];
    for (size_t me = 0; me < members; ++me) {
      Buffer& dest = buffers[to][me];
      switch (kind.shape) {
        case Shape::broadcast:
          std::copy_n(source[size_t(root)].begin(), n, dest.begin());
          break;
        case Shape::fcollect:
        case Shape::alltoall:
          for (size_t i = 0; i < members; ++i)
            std::copy_n(source[i].begin() + long(kind.shape == Shape::alltoall ? me * n : 0), n,
                        dest.begin() + long(i * n));
          break;
        default: {
          const size_t first = kind.shape == Shape::reducescatter ? me * n : 0;
          const size_t last = kind.shape == Shape::inscan ? me + 1 : kind.shape == Shape::exscan ? me : members;
          for (size_t k = 0; k < n; ++k) {
            uint64_t value = 0;
            for (size_t i = 0; i < last; ++i) value = combine(kind.number, value, source[i][first + k]);
            dest[k] = value;
          }
        }
      }
    }
  }
};

/// Operations that read what the ones before have just written, with nothing between them.
void run_chain(Bench& b, Random& random, int way) {
  Suite& suite = b.suite;
  const Type& type = kSomeTypes[0];
  const Team& team = b.draw_team(random);
  const size_t members = size_t(team.size());
  Chain chain{1 + random.length(std::min<size_t>(3000, 30000 / members)), members, {}};
  const size_t elements = chain.n * members, bytes = elements * sizeof(uint64_t);
  const uint64_t offsets[2] = {0, bytes + kGuard};
  std::vector<Operation> operations;
  struct Step {
    Kind kind;
    int from, to, root;
  };
  std::vector<Step> steps;
  for (int left = random.between(3, kRowMax); left > 0; --left) {
    const Kind kind = kEveryShape[random.below(kEveryShape.size())];
    if (kind.shape == Shape::collect || kind.shape == Shape::alltoalls) continue;
    const int from = random.between(0, 1), root = random.between(0, int(members) - 1);
    // In bench where that is allowed and leaves nothing unspecified.
    const bool may =
        kind.shape == Shape::broadcast || kind.shape == Shape::reduce || int(kind.shape) >= int(Shape::inscan);
    const int to = may && random.chance(50) ? from : 1 - from;
    steps.push_back({kind, from, to, root});
    operations.push_back({kind.number, offsets[to], offsets[from], chain.n, root, 1, 1, 1});
  }
  const Scope scope = way < 5 ? kAllScopes[way] : Scope::stream;
  const dim3 block = one_group(random, scope, 130);
  const uint64_t key = random.word();
  nvshmem_barrier_all();
  if (team.handle == NVSHMEM_TEAM_INVALID) return;
  for (int which : {0, 1})
    for (size_t member = 0; member < members; ++member) {
      chain.buffers[which].emplace_back(elements);
      pattern(chain.buffers[which].back().data(), key ^ mix(2 * member + size_t(which)), 0, bytes);
    }
  const size_t me = size_t(number_among(team.members, suite.me));
  for (int which : {0, 1}) copy(b.dest + offsets[which], chain.buffers[which][me].data(), bytes, suite.stream);

  const Row row{scope, team.handle, b.dest, b.source, b.operations, int(operations.size()), b.bad_status};
  CHECK(cudaMemsetAsync(b.bad_status, 0, sizeof(int), suite.stream));
  copy(b.operations, operations.data(), operations.size() * sizeof(Operation), suite.stream);
  if (way == 5) {
    const Graph graph(suite, type, row, operations);
    for (int replay = 0; replay < 3; ++replay) graph.launch(suite.stream);
    suite.synchronize();
  } else if (is_in_kernel(scope)) {
    type.launch(row, block, suite.stream);
  } else {
    for (const Operation& o : operations) suite.equal(type.call(row, o, suite.stream), 0, "status");
  }
  for (int replay = 0; replay < (way == 5 ? 3 : 1); ++replay)
    for (const Step& step : steps) chain.apply(step.kind, step.from, step.to, step.root);
  int bad = 0;
  copy(&bad, b.bad_status, sizeof bad, suite.stream);
  suite.equal(bad, 0, "calls with a status in the kernel");
  std::vector<char> got(bytes);
  for (int which : {0, 1}) {
    copy(got.data(), b.dest + offsets[which], bytes, suite.stream);
    suite.same(got.data(), chain.buffers[which][me].data(), bytes, which ? "second buffer" : "first buffer");
  }
}

// ---------------------------------------------------------------- two teams on two streams

/// Rows of two teams that may share members. Some PEs launch the one first, some the other: neither waits for the
/// other.
void run_two_streams(Bench& b, Bench& other, Random& random, const cudaStream_t (&streams)[2]) {
  Suite& suite = b.suite;
  const Type& type = kSomeTypes[random.below(kSomeTypes.size())];
  const Team* teams[] = {&b.draw_team(random), &other.teams[3 + random.below(other.teams.size() - 3)]};
  Case first(b, type, *teams[0]), second(other, type, *teams[1]);
  Case* cases[] = {&first, &second};
  Scope scopes[2];
  dim3 blocks[2];
  for (int i : {0, 1}) {
    for (int left = random.between(1, kOperationsMax); left > 0; --left)
      cases[i]->add(random, kEveryShape[random.below(kEveryShape.size())]);
    scopes[i] = random.chance(50) ? Scope::stream : Scope::block;
    blocks[i] = one_group(random, Scope::block, 100);
  }
  const uint64_t key = random.word(), order = random.word();
  nvshmem_barrier_all();
  const bool mine[] = {teams[0]->handle != NVSHMEM_TEAM_INVALID, teams[1]->handle != NVSHMEM_TEAM_INVALID};
  for (int i : {0, 1}) {
    Random contents(key + uint64_t(i));
    if (mine[i]) cases[i]->fill(contents);
  }
  const int leading = int((order >> (suite.me % 64)) & 1);
  for (int i : {leading, 1 - leading}) {
    if (!mine[i]) continue;
    Bench& bench = i ? other : b;
    const Row row = cases[i]->row(scopes[i]);
    const std::vector<Operation> operations = cases[i]->operations();
    if (scopes[i] == Scope::stream) {
      for (const Operation& o : operations) suite.equal(type.call(row, o, streams[i]), 0, "status");
    } else {
      copy(bench.operations, operations.data(), operations.size() * sizeof(Operation), suite.stream);
      type.launch(row, blocks[i], streams[i]);
    }
  }
  for (cudaStream_t stream : streams) CHECK(cudaStreamSynchronize(stream));
  for (int i : {0, 1})
    if (mine[i]) cases[i]->compare();
}

// ---------------------------------------------------------------- loops of broadcasts

__host__ __device__ inline int loop_value(int round, size_t i, int seed) { return round * 7919 + int(i) * 31 + seed; }
__host__ __device__ inline int loop_root(int round, int seed, int members) {
  return int((unsigned(round) * 2654435761u ^ unsigned(seed)) % unsigned(members));
}

struct Loop {
  nvshmem_team_t team;
  int *dest, *source, *wrong;
  size_t elements;
  int number, members, seed;
};
__device__ inline void prepare(const Loop& l, int round) {
  if (l.number == loop_root(round, l.seed, l.members))
    for (size_t i = thread_in_block(); i < l.elements; i += threads_in_block())
      l.source[i] = loop_value(round, i, l.seed);
}
__device__ inline void inspect(const Loop& l, int round) {
  for (size_t i = thread_in_block(); i < l.elements; i += threads_in_block())
    if (l.dest[i] != loop_value(round, i, l.seed)) atomicAdd(l.wrong, 1);
}
/// The source is written and the destination read with no other meeting: broadcast alone keeps rounds apart.
__global__ void loop_in_kernel(Loop l, int rounds) {
  for (int round = 0; round < rounds; ++round) {
    prepare(l, round);
    if (nvshmemx_int_broadcast_block(l.team, l.dest, l.source, l.elements, loop_root(round, l.seed, l.members)))
      atomicAdd(l.wrong, 1);
    inspect(l, round);
    __syncthreads();
  }
}
__global__ void prepare_round(Loop l, int round) { prepare(l, round); }
__global__ void inspect_round(Loop l, int round) { inspect(l, round); }

void run_loop(Bench& b, Random& random, bool on_stream) {
  Suite& suite = b.suite;
  const Team& team = b.draw_team(random);
  const int rounds = random.between(1, 60), seed = random.between(0, 1 << 20);
  const dim3 block = one_group(random, Scope::block, 130);
  Loop l{team.handle,
         reinterpret_cast<int*>(b.dest),
         reinterpret_cast<int*>(b.source),
         b.bad_status,
         random.length(2000),
         number_among(team.members, suite.me),
         team.size(),
         seed};
  nvshmem_barrier_all();
  if (team.handle == NVSHMEM_TEAM_INVALID) return;
  CHECK(cudaMemsetAsync(b.bad_status, 0, sizeof(int), suite.stream));
  if (on_stream) {
    for (int round = 0; round < rounds; ++round) {
      prepare_round<<<1, block, 0, suite.stream>>>(l, round);
      suite.equal(nvshmemx_int_broadcast_on_stream(l.team, l.dest, l.source, l.elements,
                                                   loop_root(round, seed, l.members), suite.stream),
                  0, "status");
      inspect_round<<<1, block, 0, suite.stream>>>(l, round);
    }
    CHECK(cudaGetLastError());
  } else {
    int count = rounds;
    void* arguments[] = {&l, &count};
    CHECK(nvshmemx_collective_launch((const void*)loop_in_kernel, dim3(1), block, arguments, 0, suite.stream));
  }
  int wrong = 0;
  copy(&wrong, b.bad_status, sizeof wrong, suite.stream);
  suite.equal(wrong, 0, "wrong elements of all rounds");
}

}  // namespace

int main(int argc, char** argv) {
  Suite suite(argc, argv);
  suite.init();
  Bench bench(suite, Random(suite.seed)), other(suite, Random(suite.seed + 1000));
  cudaStream_t streams[2];
  for (cudaStream_t& stream : streams) CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  suite.family("graphs.replayed", suite.cases, [&](Random& random, int) { run_graph(bench, random); });
  for (int way = 0; way < 6; ++way)
    suite.family(std::string("graphs.chain ") + (way < 5 ? kScopes[way] : "graph"), suite.cases,
                 [&](Random& random, int) { run_chain(bench, random, way); });
  suite.family("graphs.two streams", suite.cases,
               [&](Random& random, int) { run_two_streams(bench, other, random, streams); });
  for (bool on_stream : {false, true})
    suite.family(on_stream ? "graphs.loop on stream" : "graphs.loop in kernel", suite.cases,
                 [&](Random& random, int) { run_loop(bench, random, on_stream); });
  for (cudaStream_t stream : streams) CHECK(cudaStreamDestroy(stream));
  other.free();
  bench.free();
  return suite.finish();
}
