// Low-latency dispatch and combine (low_latency.hpp): the layout of the symmetric region, and the kernels' context.
#pragma once
#include <causeway/moe/error_message.hpp>
#include <causeway/moe/route.hpp>

namespace causeway::moe {

/// Sizes of the low-latency region. All ranks have the same.
struct LowLatencyLimits {
  int ranks = 0, hidden = 0, topk = 0, experts = 0;
  int tokens = 0;  // of a rank in one operation; 0: no low-latency mode
  int blocks = 0;  // of every kernel
};

enum Kind { kDispatch = 0, kCombine = 1 };

/// Offsets: the first two in the region, the others in each of its two sets.
struct LowLatencyLayout {
  size_t done;  // by kind, set, peer and its block: the last operation that the block has finished (uint64)
  size_t sets;
  size_t dispatch_flags;  // by source rank and its block: 2 * operation, and 1 more if its arguments were bad (uint64)
  size_t counts;          // by own expert and source rank: rows (int32)
  size_t headers;         // by source rank and token
  size_t header_bytes;
  size_t rows;  // by source rank and token: a row of bfloat16, or of FP8 and its scales
  size_t row_bytes;
  size_t combine_flags;   // by rank and its block: as dispatch_flags
  size_t weights;         // by source rank, token and choice: a float, and the operation in the upper half (uint64)
  size_t results;         // by rank and token: a row of bfloat16
  size_t error_messages;  // by kind and rank: an ErrorMessage
  size_t set_bytes, bytes;
};

CAUSEWAY_HOST_DEVICE constexpr LowLatencyLayout low_latency_layout(const LowLatencyLimits& limits) {
  const size_t ranks = size_t(limits.ranks), hidden = size_t(limits.hidden), topk = size_t(limits.topk);
  const size_t messages = ranks * size_t(limits.tokens);
  const size_t flags = aligned(ranks * size_t(limits.blocks) * sizeof(uint64_t));
  LowLatencyLayout layout{};
  layout.done = 0;
  layout.sets = 4 * flags;
  layout.dispatch_flags = 0;
  layout.counts = layout.dispatch_flags + flags;
  layout.headers = layout.counts + aligned(size_t(limits.experts) * sizeof(int32_t));
  layout.header_bytes = rounded_up(2 * sizeof(int32_t) * (1 + topk), 16);
  layout.rows = layout.headers + aligned(messages * layout.header_bytes);
  layout.row_bytes = hidden * 2;
  layout.combine_flags = layout.rows + aligned(messages * layout.row_bytes);
  layout.weights = layout.combine_flags + flags;
  layout.results = layout.weights + aligned(messages * topk * sizeof(uint64_t));
  layout.error_messages = layout.results + aligned(messages * hidden * 2);
  layout.set_bytes = layout.error_messages + aligned(2 * ranks * kErrorMessageBytes);
  layout.bytes = layout.sets + 2 * layout.set_bytes;
  return layout;
}

/// A message's header. For each choice of the token it holds the receiver's expert (-1: none) and the row among those
/// that the expert gets from this source.
struct Header {
  static constexpr uint64_t kChoices = 64;
  uint64_t operation;  // operation * kChoices + the number of choices
  struct Choice {
    int32_t expert, row;
  } choice[1];
};

/// Of a source rank in a receive: undecided, come, masked, or with bad arguments. (kBad is set before any decision.)
enum Outcome : uint32_t { kOpen = 0, kCame = 1, kDead = 2, kBad = 3 };

/// What an operation's send kernel leaves for its receive kernel; device memory of the operation.
struct LowLatencyOperation {
  uint64_t* number;
  uint32_t* outcome;  // by source rank: an Outcome
};

/// What every kernel of this mode gets.
struct LowLatencyContext {
  DeviceWorld world;
  TeamView team;  // a copy: it does not change while the team exists
  LowLatencyLimits limits;
  LowLatencyLayout layout;
  ExpertMap map;                // to the ranks
  Divisor tokens, ranks, rows;  // limits.tokens, limits.ranks, and their product: the rows of an expert
  char* region;
  uint64_t* operations;  // own memory: by kind and block: operations sent
  int32_t* first_rows;   // own memory: by set, block, own expert and source rank
  uint32_t* mask;        // own memory: by rank, nonzero: masked
  uint64_t timeout_ns;   // after which a rank is masked; 0: never
  FaultRecord* faults;   // the buffer's own
  LowLatencyOperation operation;
  // Of a dispatch's handle:
  int64_t* sent;           // by own token and choice: the expert it was sent to, or -1
  int32_t* row_of_choice;  // by source rank, token and choice: its row of x, or -1

  CAUSEWAY_DEVICE const TeamView& view() const { return team; }
  template <class T>
  CAUSEWAY_DEVICE T* of_rank(T* local, int rank) const {
    return at(world, local, world_pe(view(), rank));
  }
  CAUSEWAY_DEVICE char* set(uint64_t operation) const {
    return region + layout.sets + operation % 2 * layout.set_bytes;
  }
  /// Of an operation: by peer and its block.
  CAUSEWAY_DEVICE uint64_t* done(Kind kind, uint64_t operation) const {
    return reinterpret_cast<uint64_t*>(region + (size_t(kind) * 2 + operation % 2) * (layout.sets / 4));
  }
  /// Of an operation: by source rank and its block.
  CAUSEWAY_DEVICE uint64_t* flags(Kind kind, uint64_t operation) const {
    return reinterpret_cast<uint64_t*>(set(operation) +
                                       (kind == kDispatch ? layout.dispatch_flags : layout.combine_flags));
  }
  /// Of an operation: a rank's error message.
  CAUSEWAY_DEVICE ErrorMessage* error_message(Kind kind, uint64_t operation, int rank) const {
    const size_t number = size_t(kind) * size_t(limits.ranks) + size_t(rank);
    return reinterpret_cast<ErrorMessage*>(set(operation) + layout.error_messages + number * kErrorMessageBytes);
  }
  /// This block's index in a table by rank and block.
  CAUSEWAY_DEVICE size_t own_word() const {
    return size_t(view().pe) * size_t(limits.blocks) + machine::block_in_grid();
  }
  /// The operation of a running send kernel.
  CAUSEWAY_DEVICE uint64_t next_operation(Kind kind) const {
    return operations[size_t(kind) * size_t(limits.blocks) + machine::block_in_grid()] + 1;
  }
  /// The index in a table by source rank and token.
  CAUSEWAY_DEVICE size_t message(int rank, int token) const {
    return size_t(rank) * size_t(limits.tokens) + size_t(token);
  }
  CAUSEWAY_DEVICE bool masked(int rank) const { return machine::load_relaxed_sys(mask + rank) != 0; }
};

}  // namespace causeway::moe
