// The host side of moe.hpp: what a buffer and its handles hold.
#pragma once
#include <causeway/runtime/internal.hpp>
#include <causeway/base/error.hpp>
#include <causeway/moe/hop.hpp>
#include <causeway/moe/low_latency_combine.hpp>
#include <causeway/moe/low_latency_dispatch.hpp>
#include <causeway/view/departures.hpp>

#include <exception>
#include <optional>

namespace causeway::moe {

/// Where the tokens of a dispatch went, on each hop. Its memory is of the buffer's pool, so it must not outlive the
/// buffer.
class Handle {
 public:
  Route routes[2]{};  // of the hop across nodes, if there is one, then of the one inside the node
  std::shared_ptr<Pool::Piece> memory;
  const int32_t* count = nullptr;  // device memory: rows received
  int received = 0;                // upper bound of the rows that combine reads
};

/// What combine needs to know of a low-latency dispatch.
class LowLatencyHandle {
 public:
  int64_t* sent = nullptr;  // by token and choice: the expert, or -1
  int32_t* row_of_choice = nullptr;
  int tokens = 0, topk = 0, hidden = 0;
  std::shared_ptr<Pool::Piece> memory;
};

/// The numbers of a buffer that follow from its options and its team.
struct Shape {
  int ranks = 0, rank = 0, node_ranks = 0;
  [[nodiscard]] int nodes() const { return ranks / node_ranks; }
  [[nodiscard]] int node() const { return rank / node_ranks; }
  [[nodiscard]] int position() const { return rank % node_ranks; }
};

struct Buffer::Implementation {
  BufferOptions options;
  Shape shape;
  DeviceWorld world;
  HostMemory<FaultRecord> faults;  // what the buffer's kernels report
  Pool pool;
  std::shared_ptr<Pool::Piece> fault_claims;  // who may write it
  int node_team = -1, rail_team = -1;         // where there is more than one node
  std::optional<Hop> rail, inside;            // across nodes; in the node (or over all ranks)

  LowLatencyLimits low_limits;
  std::optional<SymmetricMemory> low_region;
  std::shared_ptr<Pool::Piece> low_memory;
  LowLatencyContext low_context{};  // without the operation

  // With these a rank without a handle takes part.
  std::shared_ptr<Handle> no_handle;
  std::shared_ptr<LowLatencyHandle> no_low_handle;
  std::shared_ptr<Pool::Piece> no_operation;
  std::vector<std::shared_ptr<Pool::Piece>> of_graphs;  // captured operations: kept as long as the buffer

  ~Implementation();
  /// What `checks` throws about a call's arguments or resources, or null. (An error that earlier calls have left on the
  /// device is no error of this call. The call takes part, and then throws it.)
  template <class Checks>
  std::exception_ptr error_of(const Checks& checks) const {
    try {
      checks();
    } catch (const std::exception&) {
      return std::current_exception();
    }
    return nullptr;
  }
  /// Throws an error that earlier operations, or the program's kernels, have left.
  void check_faults() const {
    host::check_faults(kName, faults.get());
    host::check_faults(kName);
  }
  void check_handle(const Handle& handle) const {
    if (&handle == no_handle.get())
      fail(Status::invalid_value, "handle is that of no dispatch: must be of one that has not thrown");
  }
  /// At the end of a call that neither waits nor returns a handle: throws its own error, or else one that earlier calls
  /// have left on the device. (A call that returns a handle must not: the next combine would be bad without the handle,
  /// and each error would cause the next one, without end.)
  void throw_first(const std::exception_ptr& error) const;
  [[nodiscard]] int32_t verdict(const std::exception_ptr& error) const {
    return error ? verdict_of(Fault::bad_arguments, shape.rank) : 0;
  }
  std::shared_ptr<Handle> make_handle(const Tokens&);
  Received receive(const Handle&, bool scaled) const;
  /// Both hops of a dispatch. `in` has been checked. With a verdict it has no token.
  /// worst_rows: 0, or the rows of a dispatch that the host does not wait for.
  void dispatch(const Tokens& in, const Handle&, int32_t verdict, int worst_rows, cudaStream_t);
  void throw_verdict(const Tokens& in, const Hop&) const;

  /// Memory of a new operation.
  std::shared_ptr<Pool::Piece> take_operation(cudaStream_t);
  [[nodiscard]] LowLatencyContext context_of(const Pool::Piece& operation, const LowLatencyHandle&) const;
  void make_low_latency();
  std::shared_ptr<LowLatencyHandle> make_low_handle(int tokens, int topk, int hidden);
  template <class Kernel>
  void run_low(const Kernel& kernel, cudaStream_t stream) const {
    machine::launch(kernel, unsigned(low_limits.blocks), kThreads, stream);
  }
};

/// The tokens with which a rank with bad arguments takes part.
inline Tokens no_tokens(int ranks) {
  Tokens none;
  none.hidden = 8, none.topk = 1, none.experts = ranks;
  return none;
}
/// Blocks of any low-latency kernel that the caller's GPU holds at a time.
int low_latency_blocks_at_a_time();
void check_range(const char* argument, long long value, long long low, long long high, const char* what);
/// Checks a pointer to `rows` rows: a multiple of 16 bytes, or anything for no rows.
void check_row_pointer(const char* argument, const void* pointer, long long rows);

}  // namespace causeway::moe
