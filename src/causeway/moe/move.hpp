// High-throughput dispatch, second half, and combine: the rows. A token is written once to each rank that holds one of
// its experts, directly to its final row. On the way back the token's owner pulls the rows, sums them in rank order, in
// float, and rounds once.
#pragma once
#include <causeway/moe/route.hpp>

namespace causeway::moe {

/// Sends tokens to the ranks of their experts. A worker handles a token, and reads it once for all ranks it goes to.
struct SendKernel {
  HopContext context;
  Route route;
  const char* x;
  size_t row_bytes;
  const float* scales;      // null: there are none
  const int64_t* topk_idx;  // null: only x and scales travel (the route is used again)
  const float* topk_weights;
  const Origin* origins;   // of the tokens; null: they are the caller's own
  const int32_t* verdict;  // of this dispatch; null: known to be good
  int fill;  // nonzero: the receiver does not know how many rows come, so mark those past them, up to this number

  CAUSEWAY_DEVICE void operator()() const {
    const bool sends = !verdict || *verdict == 0;
    const Lanes lanes{};
    const TeamView& team = context.view();
    const HopLayout layout = hop_layout(context.limits);
    if (sends)
      for (int t = worker(); t < route.tokens; t += workers()) send(lanes, team, layout, t);
    if (fill == 0) return;
    const size_t topk = size_t(route.topk), end = size_t(fill) * topk;
    auto* numbers = reinterpret_cast<int64_t*>(context.region + layout.topk);
    auto* weights = reinterpret_cast<float*>(context.region + layout.weights);
    const size_t first = size_t(route.recv_prefix[team.pes - 1]) * topk;
    for (size_t i = first + size_t(worker()) * lanes.size() + lanes.rank(); i < end;
         i += size_t(workers()) * lanes.size()) {
      numbers[i] = -1;
      weights[i] = 0.0f;
    }
  }

 private:
  /// The row of a token at a rank, or -1.
  CAUSEWAY_DEVICE int slot_at(int ranks, int t, int rank) const {
    const int32_t position = route.position[size_t(t) * size_t(ranks) + size_t(rank)];
    return position < 0 ? -1 : route.send_offset[rank] + position;
  }

  CAUSEWAY_DEVICE void send(Lanes lanes, const TeamView& team, const HopLayout& layout, int t) const {
    send_row(lanes, team, layout, t);
    const size_t scale_bytes = row_bytes / size_t(kScaleBlock) * sizeof(float);  // FP8: one byte an element
    for (int rank = 0; rank < team.pes && (scales || topk_idx); ++rank) {
      const int slot = slot_at(team.pes, t, rank);
      if (slot < 0) continue;
      char* region = context.of_rank(context.region, rank);
      if (scales)
        copy(lanes, Towards::peer, region + layout.scales + size_t(slot) * scale_bytes,
             reinterpret_cast<const char*>(scales) + size_t(t) * scale_bytes, scale_bytes);
      if (topk_idx) send_topk(lanes, region, layout, size_t(slot), t, rank, team);
    }
  }

  CAUSEWAY_DEVICE void send_row(Lanes lanes, const TeamView& team, const HopLayout& layout, int t) const {
    const auto row_at = [&](int rank) -> char* {
      const int slot = slot_at(team.pes, t, rank);
      return slot < 0 ? nullptr : context.of_rank(context.region, rank) + layout.x + size_t(slot) * row_bytes;
    };
    char* mine = nullptr;  // with no more ranks than lanes, each lane looks up one
    const bool looked_up = kLanesPerScale > 1 && team.pes <= int(lanes.size());
    if (looked_up && int(lanes.rank()) < team.pes) mine = row_at(int(lanes.rank()));
    fan_out(lanes, Towards::peer, x + size_t(t) * row_bytes, row_bytes, [&](auto store) {
      for (int k = 0; k < team.pes; ++k) {
        const int rank = (team.pe + k) % team.pes;
        char* to = looked_up ? from_lane(lanes, mine, unsigned(rank)) : row_at(rank);
        if (to) store(to);
      }
    });
  }

  CAUSEWAY_DEVICE void send_topk(Lanes lanes, char* region, const HopLayout& layout, size_t slot, int t, int rank,
                                 const TeamView& team) const {
    const int local = route.map.local.value();
    const size_t topk = size_t(route.topk);
    for (size_t k = lanes.rank(); k < topk; k += lanes.size()) {
      const int64_t expert = topk_idx[size_t(t) * topk + k];
      const bool here = route.map.rank_of(expert) == rank;
      const int64_t number = here ? expert - int64_t(rank) * local : -1;
      machine::store_peer(reinterpret_cast<int64_t*>(region + layout.topk) + slot * topk + k, number);
      const float weight = here && topk_weights ? topk_weights[size_t(t) * topk + k] : 0.0f;
      machine::store_peer(reinterpret_cast<float*>(region + layout.weights) + slot * topk + k, weight);
    }
    if (!leads(lanes)) return;
    const Origin origin = origins ? origins[t] : Origin{context.buffer_rank(team.pe), t};
    machine::store_peer(reinterpret_cast<Origin*>(region + layout.origin) + slot, origin);
  }
};

/// Copies what combine takes from this rank into symmetric memory. The rows of the rank's own tokens are read where
/// they are.
struct HandOverKernel {
  HopContext context;
  Route route;
  const char* x;  // null: it is there already
  size_t row_bytes;
  const float* weights;  // null: none
  CAUSEWAY_DEVICE void operator()() const {
    const Lanes lanes{};
    const HopLayout layout = hop_layout(context.limits);
    const int me = context.view().pe, tokens = route.recv_prefix[context.view().pes - 1];
    const int own_begin = me == 0 ? 0 : route.recv_prefix[me - 1], own_end = route.recv_prefix[me];
    const size_t bytes = size_t(route.topk) * sizeof(float);
    for (int t = worker(); t < tokens; t += workers()) {
      if (x && (t < own_begin || t >= own_end))
        copy(lanes, Towards::self, context.region + layout.back + size_t(t) * row_bytes, x + size_t(t) * row_bytes,
             row_bytes);
      if (weights)
        copy(lanes, Towards::self, context.region + layout.back_weights + size_t(t) * bytes,
             weights + size_t(t) * size_t(route.topk), bytes);
    }
  }
};

/// Sums what the ranks of a token's experts have handed over. Stages holds the rows between their load and their sum.
template <class Stages>
struct PullKernel {
  static constexpr unsigned kSharedBytes = Stages::kBytes;
  HopContext context;
  Route route;
  const char* x;  // the caller's own rows; null: they are in the region, with those handed over
  __nv_bfloat16* out;
  float* out_weights;  // or null
  const __nv_bfloat16* bias[2];

  CAUSEWAY_DEVICE void operator()() const {
    const Lanes lanes{};
    const TeamView& team = context.view();
    for (int rank = 0; rank < team.pes; ++rank)
      if (context.verdicts()[rank] != 0) return;
    const HopLayout layout = hop_layout(context.limits);
    for (int t = worker(); t < route.tokens; t += workers()) {
      const int32_t* position = route.position + size_t(t) * size_t(team.pes);
      pull_row(lanes, team, layout, t, position);
      if (out_weights) pull_weights(lanes, team, layout, t, position);
    }
  }

 private:
  CAUSEWAY_DEVICE void pull_row(Lanes lanes, const TeamView& team, const HopLayout& layout, int t,
                                const int32_t* position) const {
    const int packs = route.hidden / 8;
    const size_t row_bytes = size_t(route.hidden) * 2, own = size_t(t) * row_bytes;
    const auto row_of = [&](int rank) {
      const char* rows = x && rank == team.pe ? x : context.of_rank(context.region, rank) + layout.back;
      return rows + size_t(route.send_offset[rank] + position[rank]) * row_bytes;
    };
    const auto bias_row = [&](int i) { return reinterpret_cast<const char*>(bias[i]) + own; };
    char* to = reinterpret_cast<char*>(out) + own;
    if (kLanesPerScale > 1 && team.pes + 2 <= int(lanes.size())) {  // a lane looks up one rank, the last two the bias
      const int lane = int(lanes.rank()), last = int(lanes.size()) - 2;
      const char* mine = nullptr;
      if (lane < team.pes && position[lane] >= 0) mine = row_of(lane);
      if (lane >= last && bias[lane - last]) mine = bias_row(lane - last);
      sum_rows<Stages>(
          lanes, 0, packs, ballot(lanes, mine != nullptr), [&](int k) { return from_lane(lanes, mine, unsigned(k)); },
          [](int) { return 1.0f; }, [] { return true; }, to);
      return;
    }
    for (int base = 0; base < packs; base += InRegisters::kPacks * int(lanes.size())) {
      PackSum<InRegisters::kPacks> sum(lanes, base, packs);
      for (int rank = 0; rank < team.pes; ++rank)
        if (position[rank] >= 0) sum.add(row_of(rank), 1.0f);
      for (int i = 0; i < 2; ++i)
        if (bias[i]) sum.add(bias_row(i), 1.0f);
      sum.store(to);
    }
  }

  CAUSEWAY_DEVICE void pull_weights(Lanes lanes, const TeamView& team, const HopLayout& layout, int t,
                                    const int32_t* position) const {
    const size_t topk = size_t(route.topk);
    for (size_t k = lanes.rank(); k < topk; k += lanes.size()) {
      float sum = 0;
      for (int rank = 0; rank < team.pes; ++rank) {
        if (position[rank] < 0) continue;
        const size_t slot = size_t(route.send_offset[rank] + position[rank]);
        const char* from = context.of_rank(context.region, rank) + layout.back_weights;
        sum += machine::load_peer(reinterpret_cast<const float*>(from) + slot * topk + k);
      }
      out_weights[size_t(t) * topk + k] = sum;
    }
  }
};

/// All ranks meet. What was written before is visible afterwards.
struct MeetKernel {
  HopContext context;
  CAUSEWAY_DEVICE void operator()() const { sync(context.world, "moe", KernelGroup{}, context.view()); }
};

/// The same, and all ranks learn of the others' faults. The verdicts of the last such meeting must have been read.
struct ConcludeKernel {
  HopContext context;
  int32_t verdict;   // what is wrong with the caller's arguments
  bool has_earlier;  // there is a hop before, whose verdicts are passed on
  HopContext earlier;
  bool again;  // of a dispatch_again, not a combine
  CAUSEWAY_DEVICE void operator()() const {
    const KernelGroup group{};
    const TeamView& team = context.view();
    int32_t fault = verdict;
    for (int i = 0; has_earlier && i < earlier.view().pes; ++i)
      if (fault == 0) fault = earlier.verdicts()[i];
    for (int r = int(group.rank()); r < team.pes; r += int(group.size()))
      machine::store_peer(context.of_rank(context.verdicts() + team.pe, r), fault);
    sync(context.world, "moe", group, team);
    if (!leads(group) || fault != 0) return;  // then the caller knows, or the hop before has reported it
    for (int r = 0; r < team.pes; ++r)
      if (context.verdicts()[r] != 0)
        return report_verdict(context, again ? "moe dispatch_again" : "moe combine", context.verdicts()[r]);
  }
};

/// After the hop inside the node: informs the ranks of the other nodes of its faults. Runs as one group.
struct SpreadKernel {
  HopContext context;     // across nodes
  const int32_t* inside;  // verdict of the hop inside the caller's node
  Counted* counted;       // of the hop across nodes
  bool report;            // as in ExchangeKernel
  CAUSEWAY_DEVICE void operator()() const {
    const KernelGroup group{};
    const TeamView& team = context.view();
    const int32_t own = *inside;
    for (int r = int(group.rank()); r < team.pes; r += int(group.size()))
      machine::store_peer(context.of_rank(context.verdicts() + team.pe, r), own);
    sync(context.world, "moe dispatch", group, team);
    if (!leads(group) || own != 0) return;
    for (int r = 0; r < team.pes; ++r) {
      const int32_t fault = context.verdicts()[r];
      if (fault == 0) continue;
      counted->verdict = fault;
      if (report) report_verdict(context, "moe dispatch_worst_case", fault);
      return;
    }
  }
};

}  // namespace causeway::moe
