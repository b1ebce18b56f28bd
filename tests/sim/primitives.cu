// The teaching primitives: messages and collectives back to back, with PEs that stall here and there, and one or two
// slots for each pair of ranks, so that nothing but the credits holds a fast rank back. Everything that arrives, and
// what lies around it, is compared with a plain model at the end. Meant for `causeway run --seed`.
#include <causeway/moe/primitives.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <vector>

using causeway::moe::Primitives;

static int me, pes, wrong;

/// A slot holds what three threads copy, each a share of its own. Messages need up to four slots.
static constexpr size_t kSlotBytes = 144, kBytesMax = 500, kMargin = 24;
static constexpr int kThreads = 3, kOperations = 12;  // all kinds
static constexpr char kPoison = char(0xa5);

static uint32_t mix(uint32_t a, uint32_t b, uint32_t c) {
  uint32_t h = 2166136261u;
  for (const uint32_t word : {a, b, c}) h = (h ^ word) * 16777619u, h ^= h >> 15;
  return h * 2654435761u >> 8;
}

__global__ void stall(int polls) {
  for (int i = 0; i < polls; ++i) __nanosleep(1000);
}
/// Who is slow, and where, depends on the operation.
static void stall_some(int number, int site, cudaStream_t stream) {
  const uint32_t drawn = mix(uint32_t(number), uint32_t(site), uint32_t(me));
  if (drawn % 3 == 0) stall<<<1, 1, 0, stream>>>(int(drawn / 3 % 300));
}

/// Device memory that is poisoned and has a margin on both sides.
struct Memory {
  char* base = nullptr;
  size_t bytes;
  explicit Memory(size_t n) : bytes(n) { cudaMalloc(&base, all()), cudaMemset(base, kPoison, all()); }
  ~Memory() { cudaFree(base); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  [[nodiscard]] size_t all() const { return bytes + 2 * kMargin; }
  [[nodiscard]] char* at() const { return base + kMargin; }
  void check(const std::vector<char>& expected, int number) const {
    std::vector<char> got(all()), want(all(), kPoison);
    cudaMemcpy(got.data(), base, all(), cudaMemcpyDefault);
    std::copy(expected.begin(), expected.end(), want.begin() + kMargin);
    for (size_t i = 0; i < all(); ++i)
      if (got[i] != want[i] && wrong++ < 3)
        std::printf("PE %d, operation %d, byte %d: %d, expected %d\n", me, number, int(i) - int(kMargin), got[i],
                    want[i]);
  }
};

enum class Kind { message, all_gather, all_to_all };

/// What all PEs know of an operation.
struct Operation {
  int number;
  [[nodiscard]] uint32_t draw(uint32_t what) const { return mix(1000u + what, uint32_t(number), 77); }
  [[nodiscard]] Kind kind() const { return Kind(number % 3); }
  [[nodiscard]] size_t bytes() const { return 1 + draw(0) % (draw(1) % 2 == 0 ? kSlotBytes : kBytesMax); }
  [[nodiscard]] bool in_place() const { return number / 3 % 2 == 1; }
  [[nodiscard]] bool two_hops() const { return number / 6 % 2 == 1; }
  [[nodiscard]] int node_ranks() const { return pes % 2 == 0 ? pes / 2 : 1; }
  /// A message goes from each rank to the one so far behind it.
  [[nodiscard]] int step() const { return int(draw(2) % uint32_t(pes)); }
  [[nodiscard]] int to() const { return (me + step()) % pes; }
  [[nodiscard]] int from() const { return (me + pes - step()) % pes; }

  /// What rank `from` has for rank `to`.
  void append(std::vector<char>& row, int from, int to) const {
    for (size_t i = 0; i < bytes(); ++i)
      row.push_back(char(mix(uint32_t(number), uint32_t(from * 16 + to), uint32_t(i))));
  }
  [[nodiscard]] std::vector<char> input() const {
    std::vector<char> rows;
    if (kind() == Kind::message) append(rows, me, to());
    if (kind() == Kind::all_gather) append(rows, me, 0);
    for (int rank = 0; kind() == Kind::all_to_all && rank < pes; ++rank) append(rows, me, rank);
    return rows;
  }
  [[nodiscard]] std::vector<char> output() const {
    std::vector<char> rows;
    if (kind() == Kind::message) append(rows, from(), me);
    for (int rank = 0; kind() != Kind::message && rank < pes; ++rank)
      append(rows, rank, kind() == Kind::all_gather ? 0 : me);
    return rows;
  }
};

/// An operation with its memory: x is apart from out, or inside it.
struct Queued {
  Operation operation;
  Memory out, apart;
  char* x;
  explicit Queued(int number) : operation{number}, out(operation.output().size()), apart(operation.input().size()) {
    const bool inside = operation.in_place() && operation.kind() != Kind::message;
    const size_t row = operation.kind() == Kind::all_gather ? size_t(me) : 0;
    x = inside ? out.at() + row * operation.bytes() : apart.at();
    const std::vector<char> input = operation.input();
    cudaMemcpy(x, input.data(), input.size(), cudaMemcpyDefault);
  }
  void queue(Primitives& p, cudaStream_t sends, cudaStream_t stream) const {
    const size_t bytes = operation.bytes();
    const bool message = operation.kind() == Kind::message;
    stall_some(operation.number, 0, stream);
    if (message) {
      stall_some(operation.number, 1, sends);
      p.send(x, bytes, operation.to(), sends);
      p.recv(out.at(), bytes, operation.from(), stream);
    } else if (operation.kind() == Kind::all_gather) {
      operation.two_hops() ? p.internode_all_gather(x, out.at(), bytes, operation.node_ranks(), stream)
                           : p.all_gather(x, out.at(), bytes, stream);
    } else {
      operation.two_hops() ? p.internode_all_to_all(x, out.at(), bytes, operation.node_ranks(), stream)
                           : p.all_to_all(x, out.at(), bytes, stream);
    }
    cudaMemsetAsync(apart.base, kPoison, apart.all(), message ? sends : stream);  // where x has been read
  }
  void check() const {
    out.check(operation.output(), operation.number);
    apart.check({}, operation.number);
  }
};

static void run(int slots, int first, cudaStream_t sends, cudaStream_t stream) {
  std::deque<Queued> all;
  for (int i = 0; i < kOperations; ++i) all.emplace_back(first + i);
  Primitives p(NVSHMEM_TEAM_WORLD, kSlotBytes, slots, kThreads);  // its first signals follow at once
  for (const Queued& one : all) one.queue(p, sends, stream);
  cudaStreamSynchronize(sends), cudaStreamSynchronize(stream);
  for (const Queued& one : all) one.check();
}

int main() {
  nvshmem_init();
  me = nvshmem_my_pe(), pes = nvshmem_n_pes();
  nvshmem_free(nvshmem_malloc(64));  // binds the device
  cudaStream_t sends, stream;
  cudaStreamCreateWithFlags(&sends, cudaStreamNonBlocking), cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  run(2, 0, sends, stream);
  run(1, kOperations, sends, stream);  // flags and credits now lie where data were
  cudaStreamDestroy(sends), cudaStreamDestroy(stream);
  if (wrong != 0) std::printf("PE %d: %d wrong bytes\n", me, wrong);
  nvshmem_barrier_all();
  nvshmem_finalize();
  return wrong != 0;
}
