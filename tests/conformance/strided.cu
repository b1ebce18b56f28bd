// iput and iget of all types and sizes, with strides of any sign: from kernels of every scope, from the host, on
// streams.
//
// In each case every PE makes several transfers at the same time, to or from any peer, itself included. Destinations
// are apart, or lie in each other's gaps like the teeth of two combs: what a stride leaps over belongs to somebody
// else. Afterwards each PE compares its whole destination, gaps and guards and all, with a model.
#include "harness.hpp"
#include "scope.hpp"
#include "types.hpp"

using namespace conformance;

namespace {

// Elements by size may lie at any byte. (The reference asks for aligned ones.)
#if defined(CAUSEWAY_VERSION)
constexpr bool kMisaligned = true;
#else
constexpr bool kMisaligned = false;
#endif

enum class Kind { iput, iget };
const char* const kKinds[] = {"iput", "iget"};

struct Transfer {
  int pe, peer;           // who calls, and with whom
  uint64_t dest, source;  // where element 0 is: offsets in the arenas
  int64_t dest_stride, source_stride;
  uint64_t elements;
};
int dest_pe(Kind kind, const Transfer& t) { return kind == Kind::iput ? t.peer : t.pe; }
int source_pe(Kind kind, const Transfer& t) { return kind == Kind::iput ? t.pe : t.peer; }

// ---------------------------------------------------------------- the calls of one type

#define MOVES(call_iput, call_iget, ...)                         \
  if (kind == Kind::iput)                                        \
    call_iput(dest, source, dst, sst, elements, pe __VA_ARGS__); \
  else                                                           \
    call_iget(dest, source, dst, sst, elements, pe __VA_ARGS__);
#define COMMA_STREAM , stream
#define MOVE_PARAMETERS(TYPE) \
  Kind kind, TYPE *dest, const TYPE *source, ptrdiff_t dst, ptrdiff_t sst, size_t elements, int pe

/// The calls that move elements of one type, whose names hold IPUT and IGET.
#define DEFINE_MOVER(STRUCT, TYPE, IPUT, IGET)                                                                      \
  struct STRUCT {                                                                                                   \
    using Element = TYPE;                                                                                           \
    static __device__ void thread(MOVE_PARAMETERS(TYPE)) { MOVES(nvshmem_##IPUT, nvshmem_##IGET) }                  \
    static __device__ void warp(MOVE_PARAMETERS(TYPE)) { MOVES(nvshmemx_##IPUT##_warp, nvshmemx_##IGET##_warp) }    \
    static __device__ void block(MOVE_PARAMETERS(TYPE)) { MOVES(nvshmemx_##IPUT##_block, nvshmemx_##IGET##_block) } \
    static void host(MOVE_PARAMETERS(TYPE)) { MOVES(nvshmem_##IPUT, nvshmem_##IGET) }                               \
    static void on_stream(MOVE_PARAMETERS(TYPE), cudaStream_t stream) {                                             \
      MOVES(nvshmemx_##IPUT##_on_stream, nvshmemx_##IGET##_on_stream, COMMA_STREAM)                                 \
    }                                                                                                               \
  };
#define DEFINE_TYPED_MOVER(NAME, TYPE) DEFINE_MOVER(Move_##NAME, TYPE, NAME##_iput, NAME##_iget)
CONFORMANCE_TYPES(DEFINE_TYPED_MOVER)
DEFINE_MOVER(Move8, void, iput8, iget8)
DEFINE_MOVER(Move16, void, iput16, iget16)
DEFINE_MOVER(Move32, void, iput32, iget32)
DEFINE_MOVER(Move64, void, iput64, iget64)
DEFINE_MOVER(Move128, void, iput128, iget128)

// ---------------------------------------------------------------- kernels: each group takes every groups-th transfer

template <class Mover>
__global__ void move_groups(Scope scope, Kind kind, char* dest, const char* source, const Transfer* transfers,
                            int count, bool quiet) {
  using Element = typename Mover::Element;
  const unsigned threads = threads_in_block(), one_group = group_threads(scope, threads), groups = threads / one_group;
  const unsigned group = blockIdx.x * groups + thread_in_block() / one_group;
  for (unsigned i = group; i < unsigned(count); i += groups * gridDim.x) {
    const Transfer& t = transfers[i];
    auto* to = reinterpret_cast<Element*>(dest + t.dest);
    auto* from = reinterpret_cast<const Element*>(source + t.source);
    if (scope == Scope::thread)
      Mover::thread(kind, to, from, t.dest_stride, t.source_stride, t.elements, t.peer);
    else if (scope == Scope::warp)
      Mover::warp(kind, to, from, t.dest_stride, t.source_stride, t.elements, t.peer);
    else
      Mover::block(kind, to, from, t.dest_stride, t.source_stride, t.elements, t.peer);
  }
  if (quiet) nvshmem_quiet();
}

struct Launch {
  dim3 grid, block;
  bool quiet;
};

template <class Mover>
void launch_groups(const Launch& launch, Scope scope, Kind kind, char* dest, const char* source,
                   const Transfer* transfers, int count, cudaStream_t stream) {
  move_groups<Mover>
      <<<launch.grid, launch.block, 0, stream>>>(scope, kind, dest, source, transfers, count, launch.quiet);
  CHECK(cudaGetLastError());
}

template <class Mover>
void call_host(Kind kind, Scope scope, char* dest, const char* source, const Transfer& t, cudaStream_t stream) {
  using Element = typename Mover::Element;
  auto* to = reinterpret_cast<Element*>(dest + t.dest);
  auto* from = reinterpret_cast<const Element*>(source + t.source);
  if (scope == Scope::host)
    Mover::host(kind, to, from, t.dest_stride, t.source_stride, t.elements, t.peer);
  else
    Mover::on_stream(kind, to, from, t.dest_stride, t.source_stride, t.elements, t.peer, stream);
}

/// A mover as data.
struct Moves {
  const char* name;
  size_t size, alignment;
  void (*launch)(const Launch&, Scope, Kind, char*, const char*, const Transfer*, int, cudaStream_t);
  void (*call)(Kind, Scope, char*, const char*, const Transfer&, cudaStream_t);
};
#define TYPED_ROW(NAME, TYPE) {#NAME, sizeof(TYPE), alignof(TYPE), launch_groups<Move_##NAME>, call_host<Move_##NAME>},
#define SIZED_ROW(BITS) {#BITS, BITS / 8, kMisaligned ? 1 : BITS / 8, launch_groups<Move##BITS>, call_host<Move##BITS>},
const Moves kMovers[] = {CONFORMANCE_TYPES(TYPED_ROW) SIZED_ROW(8) SIZED_ROW(16) SIZED_ROW(32) SIZED_ROW(64)
                             SIZED_ROW(128)};

// ---------------------------------------------------------------- a case

/// The same bytes of address space in symmetric, ordinary device and host memory.
struct Arena {
  char *symmetric, *device;
  std::vector<char> host;
  explicit Arena(size_t bytes) : host(bytes) {
    symmetric = static_cast<char*>(nvshmem_align(256, bytes));
    CHECK(symmetric);
    CHECK(cudaMalloc(&device, bytes));
  }
  void free() {
    nvshmem_free(symmetric);
    CHECK(cudaFree(device));
  }
  char* memory(int where) { return where == 0 ? symmetric : where == 1 ? device : host.data(); }
};

constexpr size_t kArena = 1 << 20, kElementsMax = 5000;
constexpr int kTransfersMax = 12, kStrideMax = 7;

struct Bench {
  Suite& suite;
  Arena dest{kArena}, source{kArena};
  Transfer* transfers;

  explicit Bench(Suite& s) : suite(s) {
    CHECK(cudaMalloc(&transfers, size_t(2 * kTransfersMax * suite.pes) * sizeof(Transfer)));
  }
  ~Bench() {
    CHECK(cudaFree(transfers));
    source.free();
    dest.free();
  }
};

/// 1 to kStrideMax and the same below 0; contiguous often.
int64_t draw_stride(Random& random) {
  const int64_t stride = random.chance(20) ? 1 : random.between(1, kStrideMax);
  return random.chance(35) ? -stride : stride;
}
/// How far from its lowest byte a strided array has element 0, and how many bytes it spans.
uint64_t steps_back(int64_t stride, uint64_t elements) { return stride < 0 && elements ? (elements - 1) * -stride : 0; }
uint64_t span(int64_t stride, uint64_t elements, size_t size) {
  return elements ? ((elements - 1) * uint64_t(std::abs(stride)) + 1) * size : 0;
}

/// A source anywhere in the arena; a stride of 0 gives every destination the same element.
void draw_source(Random& random, const Moves& moves, Transfer& t) {
  t.source_stride = random.chance(10) ? 0 : draw_stride(random);
  const uint64_t bytes = span(t.source_stride, t.elements, moves.size);
  uint64_t low = random.below((kArena - bytes) / moves.alignment + 1) * moves.alignment;
  if (random.chance(30))
    low = std::min<uint64_t>(low, low % 256 / moves.alignment * moves.alignment);  // near the start
  t.source = low + steps_back(t.source_stride, t.elements) * moves.size;
}

/// Destinations lie one after the other, guards between them, at any offset that the type allows; or in the gaps of the
/// one before, at the same PE, whoever makes that transfer.
std::vector<Transfer> draw_transfers(Random& random, int pes, const Moves& moves, Kind kind) {
  std::vector<uint64_t> end(size_t(pes), kGuard);
  std::vector<Transfer> all;
  for (int pe = 0; pe < pes; ++pe) {
    const int count = random.between(1, pes > 4 ? kTransfersMax / 3 : kTransfersMax);
    for (int i = 0; i < count; ++i) {
      Transfer t{};
      t.pe = pe, t.peer = random.between(0, pes - 1);
      t.elements = random.length(kElementsMax), t.dest_stride = draw_stride(random);
      uint64_t& cursor = end[size_t(dest_pe(kind, t))];
      cursor = (cursor + moves.alignment - 1) / moves.alignment * moves.alignment + moves.alignment * random.below(33);
      const uint64_t room = t.elements * uint64_t(std::abs(t.dest_stride)) * moves.size;  // with the gaps' own transfer
      if (cursor + room + 2 * kGuard + 600 > kArena) t.elements = 0;
      t.dest = cursor + steps_back(t.dest_stride, t.elements) * moves.size;
      draw_source(random, moves, t);
      if (t.elements) cursor += room + kGuard;
      all.push_back(t);
      const int gap = int(std::abs(t.dest_stride)) - 1;
      if (gap == 0 || t.elements == 0 || !random.chance(40)) continue;
      Transfer tooth = t;
      tooth.dest += uint64_t(random.between(1, gap)) * moves.size;
      (kind == Kind::iput ? tooth.pe : tooth.peer) = random.between(0, pes - 1);
      draw_source(random, moves, tooth);
      all.push_back(tooth);
    }
  }
  return all;
}

/// What this PE's sources hold; all of them are parts of one stream of bytes.
void fill_sources(Suite& suite, const std::vector<Transfer>& all, Kind kind, const Moves& moves, uint64_t key,
                  char* source) {
  for (const Transfer& t : all) {
    if (source_pe(kind, t) != suite.me) continue;
    const uint64_t low = t.source - steps_back(t.source_stride, t.elements) * moves.size;
    const uint64_t bytes = span(t.source_stride, t.elements, moves.size);
    std::vector<char> content(bytes);
    pattern(content.data(), key, low, bytes);
    copy(source + low, content.data(), bytes, suite.stream);
  }
}

void run_case(Bench& bench, Random& random, const Moves& moves, Kind kind, Scope scope) {
  Suite& suite = bench.suite;
  const std::vector<Transfer> all = draw_transfers(random, suite.pes, moves, kind);
  const uint64_t poison = random.word(), content = random.word();

  // The PE's own side may be in other memory: in the heap, in ordinary device memory, for host calls in host memory.
  const int own = int(random.below(scope == Scope::host ? 3 : 2));
  char* dest = bench.dest.memory(kind == Kind::iput ? 0 : own);
  char* source = bench.source.memory(kind == Kind::iput ? own : 0);

  // What each PE holds at the start, and what it must hold at the end.
  uint64_t used = kGuard;
  for (const Transfer& t : all) {
    const uint64_t low = t.dest - steps_back(t.dest_stride, t.elements) * moves.size;
    used = std::max(used, low + span(t.dest_stride, t.elements, moves.size) + kGuard);
  }
  std::vector<char> expected = pattern(poison ^ mix(uint64_t(suite.me)), used);
  copy(dest, expected.data(), used, suite.stream);
  fill_sources(suite, all, kind, moves, content ^ mix(uint64_t(suite.me)), source);
  for (const Transfer& t : all)
    for (uint64_t i = 0; dest_pe(kind, t) == suite.me && i < t.elements; ++i) {
      const int64_t to = int64_t(t.dest) + int64_t(i) * t.dest_stride * int64_t(moves.size);
      const int64_t from = int64_t(t.source) + int64_t(i) * t.source_stride * int64_t(moves.size);
      pattern(expected.data() + to, content ^ mix(uint64_t(source_pe(kind, t))), size_t(from), moves.size);
    }

  std::vector<Transfer> mine;
  for (const Transfer& t : all)
    if (t.pe == suite.me) mine.push_back(t);
  const Launch launch{dim3(unsigned(random.between(1, 4))), random_block(random, 130, scope == Scope::warp),
                      random.chance(50)};
  copy(bench.transfers, mine.data(), mine.size() * sizeof(Transfer), suite.stream);

  nvshmem_barrier_all();  // every PE is ready
  if (is_in_kernel(scope)) {
    moves.launch(launch, scope, kind, dest, source, bench.transfers, int(mine.size()), suite.stream);
    if (!launch.quiet) nvshmemx_quiet_on_stream(suite.stream);
  } else {
    for (const Transfer& t : mine) moves.call(kind, scope, dest, source, t, suite.stream);
    if (scope == Scope::stream)
      nvshmemx_quiet_on_stream(suite.stream);
    else
      nvshmem_quiet();
  }
  suite.synchronize();
  nvshmem_barrier_all();  // every PE is through

  std::vector<char> got(used);
  copy(got.data(), dest, used, suite.stream);
  const std::string what = std::string(moves.name) + " " + kKinds[int(kind)] + " " + kScopes[int(scope)];
  suite.same(got.data(), expected.data(), used, what.c_str());
}

// ---------------------------------------------------------------- what strides are for

/// Every PE sends column `me` of its matrix of pes columns as row `me` of the next PE's; and fetches it back as a
/// column of a third matrix. In the end that is the first one.
__global__ void columns(const int* matrix, int* rows, int* back, int height, int pes) {
  const int me = nvshmem_my_pe(), next = (me + 1) % pes;
  for (int column = int(blockIdx.x); column < pes; column += int(gridDim.x)) {
    nvshmemx_int_iput_block(rows + column * height, matrix + column, 1, pes, size_t(height), next);
    nvshmem_quiet();  // each thread for its share
    __syncthreads();
    nvshmemx_int_iget_block(back + column, rows + column * height, pes, 1, size_t(height), next);
  }
}

void run_columns(Suite& suite, Random& random) {
  const int height = random.between(1, 200);
  const size_t bytes = size_t(height) * size_t(suite.pes) * sizeof(int);
  int* memory = static_cast<int*>(nvshmem_malloc(3 * bytes));
  CHECK(memory);
  int *rows = memory + bytes / sizeof(int), *back = rows + bytes / sizeof(int);
  const std::vector<char> matrix = pattern(random.word() ^ mix(uint64_t(suite.me)), bytes);
  copy(memory, matrix.data(), bytes, suite.stream);
  CHECK(cudaMemsetAsync(rows, 0x5a, 2 * bytes, suite.stream));
  suite.synchronize();
  nvshmem_barrier_all();
  columns<<<unsigned(random.between(1, 3)), unsigned(random.between(1, 70)), 0, suite.stream>>>(memory, rows, back,
                                                                                                height, suite.pes);
  CHECK(cudaGetLastError());
  suite.synchronize();
  std::vector<char> got(bytes);
  copy(got.data(), back, bytes, suite.stream);
  suite.same(got.data(), matrix.data(), bytes, "columns there and back");
  nvshmem_barrier_all();
  nvshmem_free(memory);
}

}  // namespace

int main(int argc, char** argv) {
  Suite suite(argc, argv);
  suite.init();
  {
    Bench bench(suite);
    constexpr int kRows = sizeof kMovers / sizeof *kMovers;
    int row = int(suite.seed % kRows);  // cases take the movers in turn
    for (Kind kind : {Kind::iput, Kind::iget})
      for (Scope scope : kAllScopes)
        suite.family(std::string("strided.") + kKinds[int(kind)] + " " + kScopes[int(scope)], suite.cases,
                     [&](Random& random, int) { run_case(bench, random, kMovers[row++ % kRows], kind, scope); });
    suite.family("strided.columns", (suite.cases + 1) / 2, [&](Random& random, int) { run_columns(suite, random); });
  }
  return suite.finish();
}
