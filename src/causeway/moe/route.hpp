// What the kernels of one hop of a high-throughput dispatch and combine share.
#pragma once
#include <causeway/base/numbers.hpp>
#include <causeway/coll/enter.hpp>
#include <causeway/machine/machine.hpp>
#include <causeway/view/report_misuse.hpp>
#include <causeway/moe/experts.hpp>
#include <causeway/moe/rows.hpp>
#include <causeway/moe/sizes.hpp>
#include <causeway/rma/rma.hpp>

namespace causeway::moe {

/// What every kernel of a hop gets.
struct HopContext {
  DeviceWorld world;
  TeamView team;  // with the hop's own channel; a copy: it does not change while the team exists
  Limits limits;
  char* region;                 // symmetric
  int rank_first, rank_stride;  // this hop's rank i is the buffer's rank first + i * stride
  FaultRecord* faults;          // the buffer's own
  CAUSEWAY_DEVICE const TeamView& view() const { return team; }
  /// The same address in the memory of a rank.
  template <class T>
  CAUSEWAY_DEVICE T* of_rank(T* local, int rank) const {
    return at(world, local, world_pe(view(), rank));
  }
  CAUSEWAY_DEVICE int buffer_rank(int rank) const { return rank_first + rank * rank_stride; }
  CAUSEWAY_DEVICE int32_t* verdicts() const { return reinterpret_cast<int32_t*>(region + hop_layout(limits).verdicts); }
};

/// The faults of an operation. A verdict is 0 (none), or a fault and the rank (of the buffer) that has it.
enum class Fault : int32_t {
  bad_arguments = 1,  // the rank's arguments are bad
  bad_indices = 2,    // the rank's topk_idx has an entry that is no expert
  different = 3,      // the rank was called with other sizes than the others
  too_many = 4,       // the rank would receive more tokens than its buffer holds
};
constexpr int32_t kFaultShift = 24;
CAUSEWAY_HOST_DEVICE constexpr int32_t verdict_of(Fault fault, int rank) {
  return int32_t(fault) << kFaultShift | rank;
}
CAUSEWAY_HOST_DEVICE constexpr Fault fault_of(int32_t verdict) { return Fault(verdict >> kFaultShift); }
CAUSEWAY_HOST_DEVICE constexpr int rank_of(int32_t verdict) { return verdict & ((1 << kFaultShift) - 1); }

/// As misuse(), into a buffer's own record. Any host call reads the job's record, and would take what the buffer's next
/// call is to report.
CAUSEWAY_DEVICE_OUT_OF_LINE void report(const DeviceWorld& world, FaultRecord* faults, const char* operation,
                                        const char* problem, long long first = 0, long long second = 0) {
  DeviceWorld own = world;
  own.faults = faults;
  misuse(own, operation, "", problem, first, second);
}

/// Leaves a record of a verdict for the host.
CAUSEWAY_DEVICE void report_verdict(const HopContext& context, const char* operation, int32_t verdict) {
  const char* problem = "rank {} gave bad arguments";
  if (fault_of(verdict) == Fault::bad_indices) problem = "topk_idx of rank {} has an entry that is no expert";
  if (fault_of(verdict) == Fault::different) problem = "rank {} was called with other sizes than the others";
  if (fault_of(verdict) == Fault::too_many) problem = "rank {} would receive more rows than it has room for";
  report(context.world, context.faults, operation, problem, rank_of(verdict));
}

/// Where a hop put its tokens, in device memory. A handle has one for each hop.
struct Route {
  int tokens, topk, experts, hidden;
  ExpertMap map;         // to the hop's ranks
  int32_t* position;     // by token and rank: its position among those of this rank that go there, or -1
  int32_t* send_offset;  // by rank: the row there of this rank's first token
  int32_t* recv_prefix;  // by source rank: the row here after its last token
};

/// A hop's own memory, which one operation after the other uses.
struct Scratch {
  int32_t* of_worker;   // by worker and rank: its tokens that go there; then those of the preceding workers
  int32_t* of_rank;     // by rank: all tokens that go there
  uint32_t* of_expert;  // by expert: tokens that name it; zero between operations
  uint32_t* bad_index;  // nonzero: topk_idx has an entry that is no expert; zero between operations
  int32_t* verdict;     // of the running dispatch
};

/// What a dispatch passes to the host.
struct Counted {
  int32_t verdict;
  int32_t received, received_max;  // here; greatest of all ranks of the hop
  int32_t of_expert[1];            // by own expert
};

/// Is one of the token's experts at `rank`?
CAUSEWAY_DEVICE bool goes_to(const int64_t* topk_idx, int topk, const ExpertMap& map, int rank) {
  bool goes = false;
  for (int k = 0; k < topk; ++k) goes |= map.rank_of(topk_idx[k]) == rank;
  return goes;
}

/// The run of tokens that a worker counts.
CAUSEWAY_DEVICE Run run_of(int tokens, int worker, int workers) {
  const int run = divided_up(tokens, workers);
  const int begin = run * worker < tokens ? run * worker : tokens;
  return {begin, begin + run < tokens ? begin + run : tokens};
}

}  // namespace causeway::moe
