// A buffer for mixture-of-experts layers: tokens go to the ranks (PEs of a team) that hold their experts, and results come back
// and are summed. After the idea of DeepEP's Buffer (github.com/deepseek-ai/DeepEP), whose words it uses.
//
// All ranks of the team make the buffer and call dispatch and combine, in the same order. Work is queued on the stream that a
// call is given. Pointers are device memory unless something else is said. Errors are exceptions (std::exception) whose text
// names the argument, its value and what is accepted. A dispatch that one rank calls with bad arguments, or that would give a
// rank more than its buffer holds, throws on all ranks. The other calls throw on the rank that gave bad arguments alone, before
// anything is queued, and the others then wait for it.
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
  int recv_tokens_max = 4096;      ///< that one rank can receive in a dispatch
  int low_latency_tokens_max = 0;  ///< of a rank in a low-latency operation; 0: that mode is not used
  int blocks = 8;                  ///< blocks that move tokens: eight fill an NVLink port
};

/// Tokens of one rank. x: [tokens, hidden] of bfloat16, or with scales FP8 (e4m3, one byte) with scales [tokens, hidden / 128].
/// topk_idx: [tokens, topk] numbers of experts, -1 for none; topk_weights: [tokens, topk] or null.
struct Tokens {
  const void* x = nullptr;
  const float* scales = nullptr;
  const int64_t* topk_idx = nullptr;
  const float* topk_weights = nullptr;
  int tokens = 0, hidden = 0, topk = 0, experts = 0;
};

class Handle;

/// What a rank has received: by source rank, then in the source's order. Pointers into the buffer, valid until the next
/// dispatch. topk_idx counts the rank's own experts from 0; -1: not one of this rank's.
struct Received {
  int tokens = 0;
  const void* x = nullptr;
  const float* scales = nullptr;
  const int64_t* topk_idx = nullptr;
  const float* topk_weights = nullptr;
  const int32_t* source_token = nullptr;  ///< the token's number at its source
  const int32_t* rank_prefix = nullptr;   ///< by source rank: where its tokens end
  std::vector<int> tokens_of_expert;      ///< by own expert, rounded up to the alignment asked for
  std::shared_ptr<Handle> handle;         ///< for combine, and for a dispatch along the same routes
};

/// Where a low-latency dispatch puts what it receives: memory of the caller.
struct LowLatencyOutput {
  void* x = nullptr;              ///< [own experts, ranks * low_latency_tokens_max, hidden]: bfloat16, or FP8 (e4m3)
  float* scales = nullptr;        ///< FP8 only: [own experts, ranks * low_latency_tokens_max, hidden / 128]
  int32_t* recv_count = nullptr;  ///< [own experts]: rows that came, the first ones of each expert
};
class LowLatencyHandle;
/// Receives what has been sent: to be called once, on a stream that is ordered behind the send. Until then no block is held.
using ReceiveHook = std::function<void(cudaStream_t)>;

class __attribute__((visibility("default"))) Buffer {
 public:
  /// Collective over the world: symmetric memory is allocated.
  explicit Buffer(const BufferOptions&);
  /// Collective.
  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  [[nodiscard]] int rank() const;
  [[nodiscard]] int ranks() const;
  /// Bytes of symmetric memory that a buffer with these options takes on each of `ranks` ranks.
  [[nodiscard]] static size_t size_hint(const BufferOptions&, int ranks);

  /// tokens_per_rank [ranks], tokens_per_expert [experts], token_in_rank [tokens, ranks]; each may be null. Not collective.
  void dispatch_layout(const int64_t* topk_idx, int tokens, int topk, int experts, int32_t* tokens_per_rank,
                       int32_t* tokens_per_expert, bool* token_in_rank, cudaStream_t);

  /// Sends every token once to each rank that holds one of its experts. Waits on the host for the counts.
  Received dispatch(const Tokens&, int expert_alignment, cudaStream_t);
  /// Along the routes of an earlier dispatch: x and scales alone travel; no host wait.
  Received dispatch_again(const Handle&, const void* x, const float* scales, cudaStream_t);
  /// x: a row of bfloat16 for each token received with this handle. out [tokens, hidden]: for each of the caller's tokens the
  /// sum of its rows in the order of ranks, in float, rounded once. weights [received, topk], out_weights [tokens, topk]: summed
  /// likewise, or null.
  void combine(const void* x, const float* weights, const Handle&, void* out, float* out_weights, cudaStream_t);

  // ---- low latency: every token straight to each of its experts; no host wait. All ranks use
  // experts_max experts, and a token names an expert once. Not for CUDA graphs: which of the two sets of slots an operation uses is
  // decided when it is queued.

  /// x: [tokens, hidden] of bfloat16. With `fp8`, rows are cast on the way, each 128 elements by a scale of their own. The send
  /// is queued on the stream; the receive too, unless `hook` is given, which is then set.
  std::shared_ptr<LowLatencyHandle> low_latency_dispatch(const void* x, const int64_t* topk_idx, int tokens, int hidden,
                                                         int topk, bool fp8, const LowLatencyOutput&, cudaStream_t,
                                                         ReceiveHook* hook = nullptr);
  /// x: as received, [own experts, ranks * low_latency_tokens_max, hidden] of bfloat16. out [tokens, hidden]: for each token the
  /// sum of its experts' rows times topk_weights, in the order of topk_idx, in float, rounded once.
  void low_latency_combine(const void* x, const int64_t* topk_idx, const float* topk_weights, const LowLatencyHandle&,
                           void* out, cudaStream_t, ReceiveHook* hook = nullptr);

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace causeway::moe
