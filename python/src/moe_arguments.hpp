// What the buffer's calls are given from Python: records, and the checks that make them of arrays.
#pragma once
#include "arguments.hpp"

#include <causeway/moe.hpp>
#include <memory>

namespace causeway::python {

/// A handle as Python holds it, empty once the buffer has been destroyed. The numbers are those of the dispatch.
struct DispatchHandle {
  std::shared_ptr<moe::Handle> content;
  int tokens = 0, hidden = 0, topk = 0;
  int rows = 0;  // received
};
struct LowLatencyHandle {
  std::shared_ptr<moe::LowLatencyHandle> content;
  int tokens = 0, hidden = 0, topk = 0;
};

/// What a low-latency combine adds up, and where the sums go.
struct LowLatencyResults {
  const void* x = nullptr;
  const int64_t* topk_idx = nullptr;
  const float* topk_weights = nullptr;
  void* out = nullptr;
};

/// What arrays must be, for one buffer.
struct BufferChecks {
  moe::BufferOptions options;
  int ranks = 0, rank = 0, nodes = 0;

  /// Of a dispatch. Arrays of a dispatch's layout are only looked at; their contents follow from topk_idx.
  [[nodiscard]] moe::Tokens tokens(const Array& x, const Array* scales, const Array& topk_idx,
                                   const Array* topk_weights, const Array* per_expert, const Array* per_rank,
                                   const Array* per_node, const Array* in_rank) const;
  [[nodiscard]] int alignment(nb::handle expert_alignment) const;
  [[nodiscard]] int worst_rows(nb::handle num_worst_tokens) const;
  [[nodiscard]] moe::Tokens tokens_again(const DispatchHandle&, const Array& x, const Array* scales) const;
  [[nodiscard]] moe::Tokens routes(const Array& topk_idx, nb::handle num_experts) const;
  [[nodiscard]] moe::Results results(const DispatchHandle&, const Array& x, const Array* topk_weights,
                                     const Array* bias_0, const Array* bias_1) const;

  /// The mode is there, and was made for just these numbers.
  void low_latency(nb::handle num_max_dispatch_tokens_per_rank, nb::handle num_experts) const;
  void hidden(const char* argument, int64_t hidden, int unit) const;
  [[nodiscard]] moe::Tokens low_latency_tokens(const Array& x, const Array& topk_idx, moe::Cast) const;
  /// Sets the fields of `output` for optional counts.
  void statistics(moe::LowLatencyOutput& output, const Array* recv_total, const Array* wait_ns) const;
  [[nodiscard]] LowLatencyResults low_latency_results(const LowLatencyHandle&, const Array& x, const Array& topk_idx,
                                                      const Array& topk_weights, const Array* out) const;

 private:
  [[nodiscard]] int own_experts() const { return options.experts_max / ranks; }
  [[nodiscard]] moe::Tokens rows(const Array& x, const Array* scales, int64_t wanted_rows, int64_t wanted_hidden) const;
};

void add_moe_records(nb::module_&);

}  // namespace causeway::python
