// One hop of the high-throughput mode, from the host: which kernels run, in which order, on which memory.
//
// A dispatch: prepare (count), exchange (all counts to all), position, send, meet. With two hops the verdict of the
// second is then spread over the first. A combine: meet (all have finished with the last one), hand over, conclude
// (meet, and learn of the others' faults), pull. All meetings are in a channel of the hop's own.
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

/// Host memory that kernels write to. It is freed when they have ended.
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

/// A team as the caller's kernels see it.
inline TeamView view_of(const DeviceWorld& world, int team) {
  TeamView view;
  machine_host::copy(&view, world.teams + team, sizeof view);
  return view;
}

/// The team with a channel in the hop's own region. The team's device channel serves the program's collectives, which
/// may run beside a dispatch on another stream. So may the other buffers of the team. In one channel two meetings at a
/// time would take each other's epochs. (The region is zero on all ranks when it has been made. It is freed when no
/// kernel of any rank uses it any more. So epochs begin at 0, and no line holds an old one.)
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

  /// Words of device memory that a route of `tokens` tokens takes.
  [[nodiscard]] size_t route_words(int tokens) const { return (size_t(tokens) + 2) * size_t(context_.limits.ranks); }
  [[nodiscard]] Route make_route(const Tokens& in, int32_t* words) const;

  /// Counts, tells all ranks and sends. Until the end of the queued work nothing of the input may change.
  void dispatch(const HopInput& in, const Route& route, cudaStream_t stream);

  /// After the dispatch of the hop inside the node: informs the ranks of other nodes of its faults.
  void spread(const Hop& inside, bool report, cudaStream_t stream);

  /// Sends x and scales along a route. `earlier`: the hop before, whose verdicts are passed on.
  void send_again(const Route& route, const void* x, const float* scales, int32_t verdict, const Hop* earlier,
                  cudaStream_t stream);

  /// Provides this rank's rows of a combine to its peers. Then pull() may follow. x null: they are in the region
  /// already.
  void hand_over(const Route& route, const void* x, const float* weights, int32_t verdict, const Hop* earlier,
                 cudaStream_t stream);
  /// x as in hand_over().
  void pull(const Route& route, const void* x, void* out, float* out_weights, const void* const (&bias)[2],
            cudaStream_t stream);
  void meet(cudaStream_t stream);

 private:
  void conclude(int32_t verdict, const Hop* earlier, bool again, cudaStream_t stream);

  // Kernels write to all of these until the region is freed, which waits for the device. So what is not of the pool is
  // declared before it.
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
