// One hop of the high-throughput mode, from the host: which kernels run, in which order, on which memory.
//
// A dispatch: prepare (count), exchange (all counts to all), position, send, meet; with two hops the verdict of the second is then
// spread over the first. A combine: meet (all are through with the
// last one), hand over, conclude (meet, and learn what ails the others), pull. All meetings are in a channel of the hop's own.
#pragma once
#include <causeway/api/edge.hpp>
#include <causeway/machine/launch.hpp>
#include <causeway/moe/count.hpp>
#include <causeway/moe/move.hpp>
#include <causeway/moe.hpp>
#include <causeway/moe/pool.hpp>
#include <causeway/runtime/internal.hpp>

namespace causeway::moe {

constexpr const char* kName = "causeway::moe::Buffer";

#if defined(CAUSEWAY_CPU)
constexpr unsigned kThreads = 1;
#else
constexpr unsigned kThreads = 512;
#endif

/// Workers of so many blocks.
inline int workers_of(int blocks) { return kThreads == 1 ? blocks : blocks * int(kThreads / 32); }

/// Symmetric memory. Making and freeing it is collective over the world.
class SymmetricMemory {
 public:
  explicit SymmetricMemory(size_t bytes, const char* what) : what_(what), bytes_(make(bytes, what)) {}
  ~SymmetricMemory() {
    guard(kName, [&] { host::free_symmetric(kName, bytes_, what_); });
  }
  SymmetricMemory(const SymmetricMemory&) = delete;
  SymmetricMemory& operator=(const SymmetricMemory&) = delete;
  [[nodiscard]] char* get() const { return bytes_; }

 private:
  static char* make(size_t bytes, const char* what) {
    try {
      return static_cast<char*>(host::allocate_symmetric(kName, bytes, 1, true, what));
    } catch (const std::exception& error) {
      fail(Status::out_of_memory, "{} bytes of symmetric memory for {}: {}", bytes, what, error.what());
    }
  }
  const char* what_;
  char* bytes_;
};

/// Memory of the host that kernels write to: to be freed when they are through.
template <class T>
class HostMemory {
 public:
  HostMemory() = default;
  ~HostMemory() {
    if (at_) machine_host::free_shared(at_);
  }
  HostMemory(const HostMemory&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;
  T* make(size_t bytes) { return at_ = static_cast<T*>(machine_host::make_shared(bytes)); }
  [[nodiscard]] T* get() const { return at_; }

 private:
  T* at_ = nullptr;
};

/// What the caller's kernels know of a team.
inline TeamView view_of(const DeviceWorld& world, int team) {
  TeamView view;
  machine_host::copy(&view, world.teams + team, sizeof view);
  return view;
}

/// A team that meets in a hop's own region. Its device channel is that of the program's collectives, which may run beside a dispatch
/// on another stream, as may the other buffers of the team: in one channel two meetings at a time would take each other's epochs.
/// (The region is zero on all ranks when it has been made, and freed when no kernel of any rank uses it any more: so epochs begin at
/// 0, and no old one lies in a line.)
inline TeamView apart(TeamView team, const HopPlaces& places, char* region) {
  team.inbox = reinterpret_cast<uint64_t*>(region + places.inbox);
  team.epoch = reinterpret_cast<uint64_t*>(region + places.epoch);
  return team;
}

/// The tokens of a dispatch and how this rank takes part.
struct HopInput {
  Tokens tokens;
  const Origin* origins = nullptr;  // null: the caller's own tokens
  int32_t signature = 0, verdict = 0;
  const int32_t* before = nullptr;  // verdict of the hop before
  int rows = 0;                     // that a rank may receive
  bool fill = false;                // the receiver does not learn how many rows come
  bool report = false;              // the host does not look at what is counted
};

class Hop {
 public:
  /// Collective over the world. `first` and `stride`: the buffer's ranks of the team's members.
  Hop(const DeviceWorld& world, FaultRecord* faults, int team, const Limits& limits, int first, int stride, int blocks)
      : region_(hop_places(limits).bytes, "a hop of a MoE buffer (recv_tokens_max rows of hidden_max)"),
        place_{
            world, apart(view_of(world, team), hop_places(limits), region_.get()), limits, region_.get(), first, stride,
            faults},
        blocks_(blocks) {
    const size_t experts = size_t(limits.experts), ranks = size_t(limits.ranks);
    const size_t words = size_t(workers_of(blocks)) * ranks + ranks + experts + 2;
    memory_ = pool_.take(words * sizeof(int32_t));
    auto* at = static_cast<int32_t*>(memory_->memory);
    machine_host::zero(at, words * sizeof(int32_t));
    int32_t* of_rank = at + size_t(workers_of(blocks)) * ranks;
    auto* of_expert = reinterpret_cast<uint32_t*>(of_rank + ranks);
    scratch_ = {at, of_rank, of_expert, of_expert + experts, reinterpret_cast<int32_t*>(of_expert + experts + 1)};
    counted_.make(sizeof(Counted) + (experts / ranks + 1) * sizeof(int32_t));
  }
  ~Hop() = default;
  Hop(const Hop&) = delete;
  Hop& operator=(const Hop&) = delete;

  [[nodiscard]] const Place& place() const { return place_; }
  [[nodiscard]] const Counted& counted() const { return *counted_.get(); }
  [[nodiscard]] const int32_t* verdict() const { return scratch_.verdict; }
  [[nodiscard]] char* at(size_t offset) const { return place_.region + offset; }
  [[nodiscard]] HopPlaces places() const { return hop_places(place_.limits); }

  /// Words of device memory that a route of so many tokens takes.
  [[nodiscard]] size_t route_words(int tokens) const { return (size_t(tokens) + 2) * size_t(place_.limits.ranks); }
  [[nodiscard]] Route make_route(const Tokens& in, int32_t* words) const {
    const int ranks = place_.limits.ranks;
    return {in.tokens,         in.topk, in.experts,   in.hidden, ExpertMap(in.experts, ranks),
            words + 2 * ranks, words,   words + ranks};
  }

  /// Counts, tells all ranks and sends. Until the end of the queued work nothing of the input may change.
  void dispatch(const HopInput& in, const Route& route, cudaStream_t stream) {
    const Tokens& tokens = in.tokens;
    const PrepareKernel prepare{place_.limits, place_.limits.ranks, tokens.topk_idx, route, scratch_, in.before};
    run(prepare, blocks_, stream);
    run(ExchangeKernel{place_, route, scratch_, workers_of(blocks_), in.signature, in.verdict, in.before, in.rows,
                       counted_.get(), in.report},
        1, stream);
    run(PositionKernel{prepare}, blocks_, stream);
    const size_t row = size_t(tokens.hidden) * (tokens.scales ? 1 : 2);
    run(SendKernel{place_, route, static_cast<const char*>(tokens.x), row, tokens.scales, tokens.topk_idx,
                   tokens.topk_weights, in.origins, scratch_.verdict, in.fill ? in.rows : 0},
        blocks_, stream);
    meet(stream);
  }

  /// After the dispatch of the hop inside the node: its ranks of other nodes are told what ails it.
  void spread(const Hop& inside, bool report, cudaStream_t stream) {
    machine::launch(SpreadKernel{place_, inside.verdict(), counted_.get(), report}, 1, kThreads == 1 ? 1 : 32, stream);
  }

  /// x and scales along a route; `earlier`: the hop before, whose verdicts go on.
  void send_again(const Route& route, const void* x, const float* scales, int32_t verdict, const Hop* earlier,
                  cudaStream_t stream) {
    meet(stream);  // everyone is through with what it received last
    const size_t row = size_t(route.hidden) * (scales ? 1 : 2);
    if (verdict == 0)
      run(SendKernel{place_, route, static_cast<const char*>(x), row, scales, nullptr, nullptr, nullptr, nullptr, 0},
          blocks_, stream);
    conclude(verdict, earlier, true, stream);
  }

  /// What combine gives to this rank's peers; then pull() may follow. x null: it lies in the region already.
  void hand_over(const Route& route, const void* x, const float* weights, int32_t verdict, const Hop* earlier,
                 cudaStream_t stream) {
    if (verdict == 0 && (x || weights))
      run(HandOverKernel{place_, route, static_cast<const char*>(x), size_t(route.hidden) * 2, weights}, blocks_,
          stream);
    conclude(verdict, earlier, false, stream);
  }
  /// x as in hand_over().
  void pull(const Route& route, const void* x, void* out, float* out_weights, const void* const (&bias)[2],
            cudaStream_t stream) {
    const auto* rows = static_cast<const char*>(x);
    auto* sums = static_cast<__nv_bfloat16*>(out);
    const auto *first = static_cast<const __nv_bfloat16*>(bias[0]),
               *second = static_cast<const __nv_bfloat16*>(bias[1]);
    if (shared_bytes_ >= InShared::kBytes)
      run(PullKernel<InShared>{place_, route, rows, sums, out_weights, {first, second}}, blocks_, stream);
    else
      run(PullKernel<InRegisters>{place_, route, rows, sums, out_weights, {first, second}}, blocks_, stream);
  }
  void meet(cudaStream_t stream) { machine::launch(MeetKernel{place_}, 1, kThreads == 1 ? 1 : 32, stream); }

 private:
  void conclude(int32_t verdict, const Hop* earlier, bool again, cudaStream_t stream) {
    machine::launch(ConcludeKernel{place_, verdict, earlier != nullptr, earlier ? earlier->place_ : Place{}, again}, 1,
                    kThreads == 1 ? 1 : 32, stream);
  }
  template <class Kernel>
  static void run(const Kernel& kernel, int blocks, cudaStream_t stream) {
    machine::launch(kernel, unsigned(blocks), kThreads, stream);
  }

  // Kernels write to all of it until the region goes, which waits for the device: so what is not of the pool comes before it.
  Pool pool_;
  HostMemory<Counted> counted_;
  SymmetricMemory region_;
  std::shared_ptr<Pool::Piece> memory_;
  Scratch scratch_{};
  Place place_;
  int blocks_;
  unsigned shared_bytes_ = machine::shared_bytes_of_block();
};

}  // namespace causeway::moe
