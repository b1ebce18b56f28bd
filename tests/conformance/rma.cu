// p, g, put and get, blocking and not, of all types and sizes, from kernels of every scope, from the host and on
// streams.
//
// In each case every PE makes several transfers at the same time, to or from any peer, itself included. All transfers
// of a case write to different addresses. Afterwards each PE compares its whole destination, guards and all, with a
// model.
#include "harness.hpp"
#include "scope.hpp"
#include "types.hpp"

using namespace conformance;

namespace {

enum class Kind { p, g, put, get, put_nbi, get_nbi };
const char* const kKinds[] = {"p", "g", "put", "get", "put_nbi", "get_nbi"};

bool writes_peer(Kind kind) { return kind == Kind::p || kind == Kind::put || kind == Kind::put_nbi; }

struct Transfer {
  int pe, peer;           // who calls, and with whom
  uint64_t dest, source;  // offsets in the arenas
  uint64_t elements, bytes;
};

// ---------------------------------------------------------------- the calls of one type

#define MOVES(call_put, call_get, call_put_nbi, call_get_nbi, ...) \
  switch (kind) {                                                  \
    case Kind::put:                                                \
      call_put(dest, source, elements, pe __VA_ARGS__);            \
      break;                                                       \
    case Kind::get:                                                \
      call_get(dest, source, elements, pe __VA_ARGS__);            \
      break;                                                       \
    case Kind::put_nbi:                                            \
      call_put_nbi(dest, source, elements, pe __VA_ARGS__);        \
      break;                                                       \
    case Kind::get_nbi:                                            \
      call_get_nbi(dest, source, elements, pe __VA_ARGS__);        \
      break;                                                       \
    default:                                                       \
      break;                                                       \
  }
#define COMMA_STREAM , stream

/// The calls that move elements of one type, whose names hold PUT and GET.
#define DEFINE_MOVER(STRUCT, TYPE, PUT, GET)                                                                         \
  struct STRUCT {                                                                                                    \
    using Element = TYPE;                                                                                            \
    static __device__ void thread(Kind kind, TYPE* dest, const TYPE* source, size_t elements, int pe) {              \
      MOVES(nvshmem_##PUT, nvshmem_##GET, nvshmem_##PUT##_nbi, nvshmem_##GET##_nbi)                                  \
    }                                                                                                                \
    static __device__ void warp(Kind kind, TYPE* dest, const TYPE* source, size_t elements, int pe) {                \
      MOVES(nvshmemx_##PUT##_warp, nvshmemx_##GET##_warp, nvshmemx_##PUT##_nbi_warp, nvshmemx_##GET##_nbi_warp)      \
    }                                                                                                                \
    static __device__ void block(Kind kind, TYPE* dest, const TYPE* source, size_t elements, int pe) {               \
      MOVES(nvshmemx_##PUT##_block, nvshmemx_##GET##_block, nvshmemx_##PUT##_nbi_block, nvshmemx_##GET##_nbi_block)  \
    }                                                                                                                \
    static void host(Kind kind, TYPE* dest, const TYPE* source, size_t elements, int pe) {                           \
      MOVES(nvshmem_##PUT, nvshmem_##GET, nvshmem_##PUT##_nbi, nvshmem_##GET##_nbi)                                  \
    }                                                                                                                \
    static void on_stream(Kind kind, TYPE* dest, const TYPE* source, size_t elements, int pe, cudaStream_t stream) { \
      MOVES(nvshmemx_##PUT##_on_stream, nvshmemx_##GET##_on_stream, nvshmemx_##PUT##_nbi_on_stream,                  \
            nvshmemx_##GET##_nbi_on_stream, COMMA_STREAM)                                                            \
    }                                                                                                                \
  };
#define DEFINE_TYPED_MOVER(NAME, TYPE) DEFINE_MOVER(Move_##NAME, TYPE, NAME##_put, NAME##_get)
CONFORMANCE_TYPES(DEFINE_TYPED_MOVER)
DEFINE_MOVER(Move8, void, put8, get8)
DEFINE_MOVER(Move16, void, put16, get16)
DEFINE_MOVER(Move32, void, put32, get32)
DEFINE_MOVER(Move64, void, put64, get64)
DEFINE_MOVER(Move128, void, put128, get128)
DEFINE_MOVER(MoveMem, void, putmem, getmem)

/// p and g of one type; a "copy" moves one element.
#define DEFINE_ONE(NAME, TYPE)                                                                              \
  struct One_##NAME {                                                                                       \
    using Element = TYPE;                                                                                   \
    static __device__ void thread(Kind kind, TYPE* dest, const TYPE* source, size_t, int pe) {              \
      if (kind == Kind::p)                                                                                  \
        nvshmem_##NAME##_p(dest, *source, pe);                                                              \
      else                                                                                                  \
        *dest = nvshmem_##NAME##_g(source, pe);                                                             \
    }                                                                                                       \
    static void host(Kind kind, TYPE* dest, const TYPE* source, size_t, int pe) {                           \
      if (kind == Kind::p)                                                                                  \
        nvshmem_##NAME##_p(dest, *source, pe);                                                              \
      else                                                                                                  \
        *dest = nvshmem_##NAME##_g(source, pe);                                                             \
    }                                                                                                       \
    static void on_stream(Kind kind, TYPE* dest, const TYPE* source, size_t, int pe, cudaStream_t stream) { \
      if (kind == Kind::p)                                                                                  \
        nvshmemx_##NAME##_p_on_stream(dest, *source, pe, stream);                                           \
      else                                                                                                  \
        *dest = nvshmemx_##NAME##_g_on_stream(source, pe, stream);                                          \
    }                                                                                                       \
  };
CONFORMANCE_TYPES(DEFINE_ONE)

// ---------------------------------------------------------------- kernels: each group takes every groups-th transfer

template <class Mover>
__device__ void move_one(Mover, Scope scope, Kind kind, char* dest, const char* source, const Transfer& t) {
  using Element = typename Mover::Element;
  auto* to = reinterpret_cast<Element*>(dest + t.dest);
  auto* from = reinterpret_cast<const Element*>(source + t.source);
  if (scope == Scope::thread)
    Mover::thread(kind, to, from, t.elements, t.peer);
  else if (scope == Scope::warp)
    Mover::warp(kind, to, from, t.elements, t.peer);
  else
    Mover::block(kind, to, from, t.elements, t.peer);
}

template <class Mover>
__global__ void move_groups(Scope scope, Kind kind, char* dest, const char* source, const Transfer* transfers,
                            int count, bool quiet) {
  const unsigned threads = threads_in_block();
  const unsigned group_threads = scope == Scope::thread ? 1 : scope == Scope::warp ? 32 : threads;
  const unsigned groups = threads / group_threads;
  const unsigned group = blockIdx.x * groups + thread_in_block() / group_threads;
  for (unsigned i = group; i < unsigned(count); i += groups * gridDim.x)
    move_one(Mover{}, scope, kind, dest, source, transfers[i]);
  if (quiet) nvshmem_quiet();
}

template <class One>
__global__ void move_ones(Kind kind, char* dest, const char* source, const Transfer* transfers, int count, bool quiet) {
  using Element = typename One::Element;
  const unsigned threads = threads_in_block();
  for (unsigned i = blockIdx.x * threads + thread_in_block(); i < unsigned(count); i += threads * gridDim.x)
    One::thread(kind, reinterpret_cast<Element*>(dest + transfers[i].dest),
                reinterpret_cast<const Element*>(source + transfers[i].source), 1, transfers[i].peer);
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
template <class One>
void launch_ones(const Launch& launch, Scope, Kind kind, char* dest, const char* source, const Transfer* transfers,
                 int count, cudaStream_t stream) {
  move_ones<One><<<launch.grid, launch.block, 0, stream>>>(kind, dest, source, transfers, count, launch.quiet);
  CHECK(cudaGetLastError());
}

template <class Mover>
void call_host(Kind kind, Scope scope, char* dest, const char* source, const Transfer& t, cudaStream_t stream) {
  using Element = typename Mover::Element;
  auto* to = reinterpret_cast<Element*>(dest + t.dest);
  auto* from = reinterpret_cast<const Element*>(source + t.source);
  if (scope == Scope::host)
    Mover::host(kind, to, from, t.elements, t.peer);
  else
    Mover::on_stream(kind, to, from, t.elements, t.peer, stream);
}

/// A mover as data.
struct Moves {
  const char* name;
  size_t size;
  void (*launch)(const Launch&, Scope, Kind, char*, const char*, const Transfer*, int, cudaStream_t);
  void (*call)(Kind, Scope, char*, const char*, const Transfer&, cudaStream_t);
};
#define TYPED_ROW(NAME, TYPE) {#NAME, sizeof(TYPE), launch_groups<Move_##NAME>, call_host<Move_##NAME>},
#define SIZED_ROW(BITS) {#BITS, BITS / 8, launch_groups<Move##BITS>, call_host<Move##BITS>},
const Moves kMovers[] = {CONFORMANCE_TYPES(TYPED_ROW) SIZED_ROW(8) SIZED_ROW(16) SIZED_ROW(32) SIZED_ROW(64)
                             SIZED_ROW(128)};
const Moves kMem[] = {{"mem", 1, launch_groups<MoveMem>, call_host<MoveMem>}};
#define ONE_ROW(NAME, TYPE) {#NAME, sizeof(TYPE), launch_ones<One_##NAME>, call_host<One_##NAME>},
const Moves kOnes[] = {CONFORMANCE_TYPES(ONE_ROW)};

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

constexpr size_t kArena = 1 << 20;
constexpr int kTransfersMax = 12;

struct Bench {
  Suite& suite;
  Arena dest{kArena}, source{kArena};
  Transfer* transfers;

  explicit Bench(Suite& s) : suite(s) { CHECK(cudaMalloc(&transfers, kTransfersMax * sizeof(Transfer))); }
  ~Bench() {
    CHECK(cudaFree(transfers));
    source.free();
    dest.free();
  }
};

/// Destinations lie one after the other, guards between them, at any offset that the type allows.
std::vector<Transfer> draw_transfers(Random& random, int pes, const Moves& moves, Kind kind, bool one,
                                     size_t elements_max) {
  std::vector<size_t> end(size_t(pes), kGuard);
  std::vector<Transfer> all;
  for (int pe = 0; pe < pes; ++pe) {
    const int count = random.between(1, pes > 4 ? kTransfersMax / 3 : kTransfersMax);
    for (int i = 0; i < count; ++i) {
      Transfer t{};
      t.pe = pe, t.peer = random.between(0, pes - 1);
      t.elements = one ? 1 : random.length(elements_max);
      size_t& cursor = end[size_t(writes_peer(kind) ? t.peer : t.pe)];
      cursor = (cursor + moves.size - 1) / moves.size * moves.size + moves.size * random.below(33);
      if (cursor + t.elements * moves.size + 2 * kGuard + 600 > kArena) {
        if (one) break;
        t.elements = 0;
      }
      t.bytes = t.elements * moves.size;
      t.dest = cursor;
      t.source = random.below((kArena - t.bytes) / moves.size + 1) * moves.size;
      if (random.chance(30)) t.source = t.source % 256 / moves.size * moves.size;  // near the start
      cursor += t.bytes + kGuard;
      all.push_back(t);
    }
  }
  return all;
}

void run_case(Bench& bench, Random& random, const Moves& moves, Kind kind, Scope scope, size_t elements_max = 5000) {
  Suite& suite = bench.suite;
  const bool one = kind == Kind::p || kind == Kind::g;
  const std::vector<Transfer> all = draw_transfers(random, suite.pes, moves, kind, one, elements_max);
  const uint64_t poison = random.word(), content = random.word();

  // The PE's own side may be in other memory: in the heap, in ordinary device memory, for host calls in host memory.
  const int addresses = scope == Scope::host || (one && scope == Scope::stream) ? 3 : 2;
  int own = int(random.below(uint64_t(addresses)));
  if (one && (scope == Scope::host || scope == Scope::stream)) own = 2;  // the host itself reads or writes the value
  char* dest = bench.dest.memory(writes_peer(kind) ? 0 : own);
  char* source = bench.source.memory(writes_peer(kind) ? own : 0);

  // What each PE holds at the start, and what it must hold at the end.
  size_t used = kGuard;
  for (const Transfer& t : all) used = std::max(used, size_t(t.dest + t.bytes + kGuard));
  std::vector<char> expected = pattern(poison ^ mix(uint64_t(suite.me)), used);
  copy(dest, expected.data(), used, suite.stream);
  for (const Transfer& t : all) {
    const int dest_pe = writes_peer(kind) ? t.peer : t.pe, source_pe = writes_peer(kind) ? t.pe : t.peer;
    if (dest_pe == suite.me) pattern(expected.data() + t.dest, content ^ mix(uint64_t(source_pe)), t.source, t.bytes);
    if (source_pe != suite.me) continue;
    std::vector<char> bytes(t.bytes);
    pattern(bytes.data(), content ^ mix(uint64_t(suite.me)), t.source, t.bytes);
    copy(source + t.source, bytes.data(), t.bytes, suite.stream);
  }

  std::vector<Transfer> mine;
  for (const Transfer& t : all)
    if (t.pe == suite.me) mine.push_back(t);
  const Launch launch{dim3(unsigned(random.between(1, 4))), random_block(random, 130, scope == Scope::warp),
                      random.chance(50)};
  copy(bench.transfers, mine.data(), mine.size() * sizeof(Transfer), suite.stream);

  nvshmem_barrier_all();  // every PE is ready
  if (scope == Scope::host || scope == Scope::stream) {
    for (const Transfer& t : mine) moves.call(kind, scope, dest, source, t, suite.stream);
    if (scope == Scope::stream)
      nvshmemx_quiet_on_stream(suite.stream);
    else
      nvshmem_quiet();
  } else {
    moves.launch(launch, scope, kind, dest, source, bench.transfers, int(mine.size()), suite.stream);
    if (!launch.quiet) nvshmemx_quiet_on_stream(suite.stream);
  }
  suite.synchronize();
  nvshmem_barrier_all();  // every PE is through

  std::vector<char> got(used);
  copy(got.data(), dest, used, suite.stream);
  const std::string what = std::string(moves.name) + " " + kKinds[int(kind)] + " " + kScopes[int(scope)];
  suite.same(got.data(), expected.data(), used, what.c_str());
}

// ---------------------------------------------------------------- one large copy

void run_large(Suite& suite, Random& random, Kind kind, Scope scope) {
  constexpr size_t kBytes = (8 << 20) + 13, kRoom = kBytes + 2 * kGuard + 64;
  char* dest = static_cast<char*>(nvshmem_malloc(kRoom));
  char* source = static_cast<char*>(nvshmem_malloc(kRoom));
  Transfer* transfer = nullptr;
  CHECK(dest), CHECK(source), CHECK(cudaMalloc(&transfer, sizeof(Transfer)));
  const uint64_t poison = random.word(), content = random.word();
  const size_t from = random.below(32), to = kGuard + random.below(32);
  const int shift = random.between(0, suite.pes - 1);

  std::vector<char> expected = pattern(poison ^ mix(uint64_t(suite.me)), kRoom);
  copy(dest, expected.data(), kRoom, suite.stream);
  std::vector<char> bytes = pattern(content ^ mix(uint64_t(suite.me)), kRoom);
  copy(source, bytes.data(), kRoom, suite.stream);
  const Transfer mine{suite.me, (suite.me + shift) % suite.pes, to, from, kBytes, kBytes};
  copy(transfer, &mine, sizeof mine, suite.stream);
  nvshmem_barrier_all();
  if (scope == Scope::host || scope == Scope::stream)
    kMem[0].call(kind, scope, dest, source, mine, suite.stream);
  else
    kMem[0].launch({dim3(1), dim3(scope == Scope::warp ? 32 : 257), false}, scope, kind, dest, source, transfer, 1,
                   suite.stream);
  nvshmemx_barrier_all_on_stream(suite.stream);
  suite.synchronize();
  nvshmem_barrier_all();

  const int sender = (writes_peer(kind) ? suite.me - shift + suite.pes : suite.me + shift) % suite.pes;
  pattern(expected.data() + to, content ^ mix(uint64_t(sender)), from, kBytes);
  std::vector<char> got(kRoom);
  copy(got.data(), dest, kRoom, suite.stream);
  suite.same(got.data(), expected.data(), kRoom, kScopes[int(scope)]);
  CHECK(cudaFree(transfer));
  nvshmem_free(source);
  nvshmem_free(dest);
}

}  // namespace

int main(int argc, char** argv) {
  Suite suite(argc, argv);
  suite.init();
  {
    Bench bench(suite);
    const auto name = [](const char* what, Kind kind, Scope scope) {
      std::string call = kKinds[int(kind)];
      return "rma." + call.insert(std::min(call.size(), size_t{3}), what) + " " + kScopes[int(scope)];
    };
    constexpr int kOneRows = sizeof kOnes / sizeof *kOnes, kMoverRows = sizeof kMovers / sizeof *kMovers;
    for (Kind kind : {Kind::p, Kind::g})  // every type, however few cases are asked for
      for (Scope scope : {Scope::thread, Scope::host, Scope::stream})
        suite.family(name("", kind, scope), std::max(suite.cases, kOneRows),
                     [&](Random& random, int index) { run_case(bench, random, kOnes[index % kOneRows], kind, scope); });
    int first = int(suite.seed % kMoverRows);  // cases take the movers in turn
    for (Kind kind : {Kind::put, Kind::get, Kind::put_nbi, Kind::get_nbi})
      for (Scope scope : kAllScopes) {
        suite.family(name("", kind, scope), suite.cases,
                     [&](Random& random, int) { run_case(bench, random, kMovers[first++ % kMoverRows], kind, scope); });
        suite.family(name("mem", kind, scope), (suite.cases + 1) / 2, [&](Random& random, int) {
          run_case(bench, random, kMem[0], kind, scope, random.chance(20) ? 40000 : 5000);
        });
      }
    constexpr Scope kLarge[] = {Scope::block, Scope::warp, Scope::host, Scope::stream};
    suite.family("rma.putmem large", suite.cases < 4 ? 1 : 4,
                 [&](Random& random, int index) { run_large(suite, random, Kind::put, kLarge[index]); });
    suite.family("rma.getmem large", suite.cases < 4 ? 1 : 4,
                 [&](Random& random, int index) { run_large(suite, random, Kind::get, kLarge[index]); });
  }
  return suite.finish();
}
