// One hop of the high-throughput mode, from the host: which kernels run, in which order, on which memory.
//
// A dispatch: prepare (count), exchange (all counts to all), position, send, meet; with two hops the verdict of the
// second is then spread over the first. A combine: meet (all are through with the last one), hand over, conclude (meet,
// and learn what is wrong with the others), pull. All meetings are in a channel of the hop's own.
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

/// A team that meets in a hop's own region. Its device channel is that of the program's collectives, which may run
/// beside a dispatch on another stream, as may the other buffers of the team: in one channel two meetings at a time
/// would take each other's epochs. (The region is zero on all ranks when it has been made, and freed when no kernel of
/// any rank uses it any more: so epochs begin at 0, and no old one lies in a line.)
inline TeamView with_own_channel(TeamView team, const HopLayout& layout, char* region) {
  team.inbox = reinterpret_cast<uint64_t*>(region + layout.inbox);
  team.epoch = reinterpret_cast<uint64_t*>(region + layout.epoch);
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
  Hop(const DeviceWorld& world, FaultRecord* faults, int team, const Limits& limits, int first, int stride, int blocks);
  ~Hop() = default;
  Hop(const Hop&) = delete;
  Hop& operator=(const Hop&) = delete;

  [[nodiscard]] const HopContext& context() const { return context_; }
  [[nodiscard]] const Counted& counted() const { return *counted_.get(); }
  [[nodiscard]] const int32_t* verdict() const { return scratch_.verdict; }
  [[nodiscard]] char* at(size_t offset) const { return context_.region + offset; }
  [[nodiscard]] HopLayout layout() const { return hop_layout(context_.limits); }

  /// Words of device memory that a route of so many tokens takes.
  [[nodiscard]] size_t route_words(int tokens) const { return (size_t(tokens) + 2) * size_t(context_.limits.ranks); }
  [[nodiscard]] Route make_route(const Tokens& in, int32_t* words) const;

  /// Counts, tells all ranks and sends. Until the end of the queued work nothing of the input may change.
  void dispatch(const HopInput& in, const Route& route, cudaStream_t stream);

  /// After the dispatch of the hop inside the node: its ranks of other nodes are told what is wrong with it.
  void spread(const Hop& inside, bool report, cudaStream_t stream);

  /// x and scales along a route; `earlier`: the hop before, whose verdicts go on.
  void send_again(const Route& route, const void* x, const float* scales, int32_t verdict, const Hop* earlier,
                  cudaStream_t stream);

  /// What combine gives to this rank's peers; then pull() may follow. x null: it lies in the region already.
  void hand_over(const Route& route, const void* x, const float* weights, int32_t verdict, const Hop* earlier,
                 cudaStream_t stream);
  /// x as in hand_over().
  void pull(const Route& route, const void* x, void* out, float* out_weights, const void* const (&bias)[2],
            cudaStream_t stream);
  void meet(cudaStream_t stream);

 private:
  void conclude(int32_t verdict, const Hop* earlier, bool again, cudaStream_t stream);

  // Kernels write to all of it until the region goes, which waits for the device: so what is not of the pool comes
  // before it.
  Pool pool_;
  HostMemory<Counted> counted_;
  SymmetricMemory region_;
  std::shared_ptr<Pool::Piece> memory_;
  Scratch scratch_{};
  HopContext context_;
  int blocks_;
  unsigned shared_bytes_ = machine::shared_bytes_of_block();
};

}  // namespace causeway::moe
