// A buffer for mixture-of-experts layers: tokens go to the ranks (PEs of a team) that hold their experts, and results
// come back and are summed. After the idea of DeepEP's Buffer (github.com/deepseek-ai/DeepEP), whose words it uses.
//
// All ranks of the team make the buffer and call its collective operations (dispatch, dispatch_worst_case,
// dispatch_again, combine, low_latency_dispatch, low_latency_combine) in the same order. Work is queued on the stream
// that a call is given. Operations of a buffer on different streams are ordered by the caller; a receive hook alone may
// run beside later ones. Other buffers of the team and its collectives may run beside them on other streams, in any
// order that leaves them room on the GPU. A handle that a captured graph uses is kept as long as the graph. Pointers
// are device memory unless something else is said.
//
// Errors are exceptions (std::exception) whose text names the argument, its value and what is accepted. A rank whose
// arguments are bad still takes part, with no token, so that no other rank waits for it: a dispatch that waits on the
// host throws on all ranks, and an operation that does not throws at once on the rank that is wrong, and on the others
// in a later combine, dispatch_again, low_latency_combine or check, naming that rank. A call that throws for an earlier
// one is done nevertheless: what it was given is in use until its stream is through. A rank that a dispatch has left
// without a handle takes part in what the others do with theirs by no_handle().
#pragma once
#include <causeway/moe/sizes.hpp>
#include <cuda_bf16.h>
#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace causeway::moe {

/// What a buffer is made for. All ranks give the same values.
struct BufferOptions {
  int team = 0;                    ///< nvshmem_team_t: its members are the ranks
  int hidden_max = 7168;           ///< elements of a token; a multiple of 128
  int topk_max = 8;                ///< experts of a token
  int experts_max = 256;           ///< over all ranks
  int recv_tokens_max = 4096;      ///< that one rank can receive in a dispatch, on each hop
  int low_latency_tokens_max = 0;  ///< of a rank in a low-latency operation; 0: that mode is not used
  int blocks = 8;                  ///< blocks that move tokens in high-throughput mode: eight fill an NVLink port
  /// The same in low-latency mode. All ranks take the fewest that any is given, or has room for: blocks wait for other
  /// ranks, so those of all that share a GPU must fit on it at a time, and one more. 0: as many as do, at most 128.
  /// Beside an operation that waits there is room for one of another stream, not for more.
  int low_latency_blocks = 0;
  /// Ranks of a node: consecutive ones. With more than one node a token crosses once to the rank of its source's
  /// position in each node that needs it, and goes on inside that node. 0: the job's nodes, where all hold as many
  /// consecutive ranks; else all ranks are one node.
  int node_ranks = 0;
  /// A low-latency wait for a rank that lasts longer (seconds) takes that rank for dead: it is masked. 0: never.
  double low_latency_timeout_s = 0;
};

/// Tokens of one rank. x: [tokens, hidden] of bfloat16, or with scales FP8 (e4m3, one byte) with scales [tokens, hidden
/// / 128]. topk_idx: [tokens, topk] numbers of experts, -1 for none; topk_weights: [tokens, topk] or null.
struct Tokens {
  const void* x = nullptr;
  const float* scales = nullptr;
  const int64_t* topk_idx = nullptr;
  const float* topk_weights = nullptr;
  int tokens = 0, hidden = 0, topk = 0, experts = 0;
};

class Handle;

/// What a rank has received: ordered by the source's position in its node, then its node, then as at the source. (In
/// one node: by source rank.) Pointers into the buffer, valid until the next dispatch. topk_idx counts the rank's own
/// experts from 0; -1: not one of this rank's.
struct Received {
  int tokens = 0;  ///< rows; after dispatch_worst_case: its `rows`, those past *count are -1 in topk_idx
  const int32_t* count = nullptr;  ///< device memory of the handle: the rows that came
  const void* x = nullptr;
  const float* scales = nullptr;
  const int64_t* topk_idx = nullptr;
  const float* topk_weights = nullptr;
  const Origin* origin = nullptr;  ///< where each row comes from
  std::vector<int>
      tokens_of_expert;            ///< by own expert, rounded up to the alignment asked for; empty in worst-case mode
  std::shared_ptr<Handle> handle;  ///< for combine, and for a dispatch along the same routes
};

/// What a combine adds up; x alone must be given.
struct Results {
  const void* x = nullptr;         ///< [received, hidden] of bfloat16: a row for each token received
  const float* weights = nullptr;  ///< [received, topk], summed likewise
  const void* bias[2] = {};        ///< [tokens, hidden] of bfloat16 each: added to the sums
};

/// How rows are cast to FP8 (e4m3), each 128 elements by a scale of their own.
enum class Cast {
  none,          ///< rows travel as bfloat16
  fp8,           ///< scale: the greatest magnitude of the 128 over 448
  fp8_rounded,   ///< scale: rounded up to a power of two
  fp8_exponent,  ///< the same, given as its biased exponent alone (UE8M0): one byte, four to a word
};

/// Where a low-latency dispatch puts what it receives: memory of the caller. Rows of an expert lie by source rank.
struct LowLatencyOutput {
  void* x = nullptr;  ///< [own experts, ranks * low_latency_tokens_max, hidden]: bfloat16, or FP8 (e4m3)
  /// FP8 only: [own experts, hidden / 128, ranks * low_latency_tokens_max] floats (the rows are the last dimension, as
  /// tensor cores load them); with fp8_exponent [own experts, hidden / 512, ranks * low_latency_tokens_max] words.
  void* scales = nullptr;
  int32_t* recv_count = nullptr;    ///< [own experts]: rows that came, the first ones of each expert
  int32_t* source_token = nullptr;  ///< or null: [own experts, ranks * low_latency_tokens_max]: the token at its source
  int64_t* layout_range = nullptr;  ///< or null: [own experts, ranks]: first row << 32 | rows of that source
  int32_t* recv_total = nullptr;    ///< or null: [own experts], to which the rows that came are added
  int64_t* wait_ns = nullptr;       ///< or null: [ranks], to which the time spent waiting for each rank is added
};
class LowLatencyHandle;
/// Receives what has been sent: to be called once, on a stream that is ordered behind the send. Until then no block is
/// held.
using ReceiveHook = std::function<void(cudaStream_t)>;

class __attribute__((visibility("default"))) Buffer {
 public:
  /// Collective over the world: symmetric memory is allocated, and teams are made where there is more than one node.
  explicit Buffer(const BufferOptions&);
  /// Collective; waits for the device.
  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  [[nodiscard]] int rank() const;
  [[nodiscard]] int ranks() const;
  [[nodiscard]] int node_ranks() const;
  /// Blocks of a low-latency kernel, as the ranks have agreed on them.
  [[nodiscard]] int low_latency_blocks() const;
  /// Bytes of symmetric memory that a buffer with these options takes on each of `ranks` ranks. node_ranks 0: the job's
  /// nodes, if it has been joined and has as many PEs; else one node.
  [[nodiscard]] static size_t size_hint(const BufferOptions&, int ranks);
  /// Waits for the stream, and throws what an operation on it has reported.
  void check(cudaStream_t);

  /// tokens_per_rank [ranks], tokens_per_node [nodes], tokens_per_expert [experts], token_in_rank [tokens, ranks]; each
  /// may be null. Not collective.
  void dispatch_layout(const int64_t* topk_idx, int tokens, int topk, int experts, int32_t* tokens_per_rank,
                       int32_t* tokens_per_node, int32_t* tokens_per_expert, bool* token_in_rank, cudaStream_t);

  /// Sends every token once to each rank that holds one of its experts. Waits on the host until the stream is through
  /// with it: then the counts are known and the rows are there.
  Received dispatch(const Tokens&, int expert_alignment, cudaStream_t);
  /// The same without a host wait, so that it can be captured into a CUDA graph.
  /// `rows`: how many rows are given, on all ranks the same; a rank that would receive more is an error, as one that
  /// would receive more than recv_tokens_max. 0: recv_tokens_max.
  Received dispatch_worst_case(const Tokens&, cudaStream_t, int rows = 0);
  /// Along the routes of an earlier dispatch: x and scales alone travel; no host wait. As backward of a combine it
  /// sends the gradient of each token to where the token went.
  Received dispatch_again(const Handle&, const void* x, const float* scales, cudaStream_t);
  /// out [tokens, hidden]: for each of the caller's tokens the sum of its rows in the order of ranks, in float, rounded
  /// once on each hop. out_weights [tokens, topk] or null. As backward of a dispatch it sums the gradients of a token's
  /// copies. No host wait.
  void combine(const Results&, const Handle&, void* out, float* out_weights, cudaStream_t);
  /// Memory [recv_tokens_max, hidden] in the buffer: results written there need no copy when they are given to combine.
  /// It may be written from a dispatch on, once: after a combine other ranks still read it, until the next dispatch.
  [[nodiscard]] void* combine_input() const;
  /// A handle of no dispatch, good for the buffer's life: dispatch_again and combine take part with it, and throw.
  [[nodiscard]] const Handle& no_handle() const;

  // ---- low latency: every token straight to its experts' ranks; no host wait, and CUDA graphs may capture it. All
  // ranks use experts_max experts. At most two dispatches (and two combines) may have been sent whose receive has not
  // been queued.

  /// x: [tokens, hidden] of bfloat16. A token names an expert once. The send is queued on the stream; the receive too,
  /// unless `hook` is given, which is then set.
  std::shared_ptr<LowLatencyHandle> low_latency_dispatch(const void* x, const int64_t* topk_idx, int tokens, int hidden,
                                                         int topk, Cast, const LowLatencyOutput&, cudaStream_t,
                                                         ReceiveHook* hook = nullptr);
  /// x: as received, [own experts, ranks * low_latency_tokens_max, hidden] of bfloat16. out [tokens, hidden]: for each
  /// token the sum of its experts' rows times topk_weights. Each rank sums its own experts' rows in the order of
  /// topk_idx, in float, and rounds once; the ranks' sums are added in the order of ranks, in float, and rounded once.
  /// topk_idx: as given to the dispatch; an entry that is -1 by now counts with weight 0, another expert is an error,
  /// which all ranks are told.
  void low_latency_combine(const void* x, const int64_t* topk_idx, const float* topk_weights, const LowLatencyHandle&,
                           void* out, cudaStream_t, ReceiveHook* hook = nullptr);
  /// The same for low_latency_combine.
  [[nodiscard]] const LowLatencyHandle& no_low_latency_handle() const;
  /// A masked rank is neither sent to nor waited for in low-latency mode, and adds nothing. Two ranks that have masked
  /// each other take each other back when neither has a receive or a combine of a dispatch to come, and both have
  /// called as many operations: these are counted.
  void set_masked(int rank, bool masked, cudaStream_t);
  /// mask: [ranks], 1 for a masked rank.
  void query_mask(int32_t* mask, cudaStream_t) const;
  void clear_mask(cudaStream_t);

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace causeway::moe
