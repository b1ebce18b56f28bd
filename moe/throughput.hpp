// High-throughput dispatch and combine: the kernels. A token goes once to each rank that holds one of its experts, straight
// to its final place; the way back is pulled by the token's owner, who sums in rank order, in float, and rounds once.
//
// One dispatch: count (positions of tokens at their targets; everyone's counts to everyone), send, meet. One combine: meet
// (peers are through with the last one), hand over, meet, pull.
#pragma once
#include <cuda_bf16.h>

#include <causeway/coll/enter.hpp>
#include <causeway/machine/machine.hpp>
#include <causeway/moe/sizes.hpp>
#include <causeway/rma/rma.hpp>

namespace causeway::moe {

#if defined(CAUSEWAY_CPU)
using KernelGroup = Thread;
#else
using KernelGroup = Block;
#endif

/// What every kernel of a buffer gets.
struct Place {
  DeviceWorld world;
  int team;  // slot of world.teams
  Limits limits;
  char* region;  // symmetric
  CAUSEWAY_DEVICE const TeamView& view() const { return world.teams[team]; }
  /// The same place in the memory of a rank.
  template <class T>
  CAUSEWAY_DEVICE T* of_rank(T* local, int rank) const {
    return at(world, local, world_pe(view(), rank));
  }
};

/// Where a dispatch put its tokens, kept in the caller's device memory; a handle.
struct Route {
  int tokens, topk, experts, hidden;
  int32_t* position;     // by token and rank: its number among those of this rank that go there, or -1
  int32_t* send_offset;  // by rank: where this rank's tokens begin there
  int32_t* recv_prefix;  // by source rank: where its tokens end here
};

/// What the host learns: what ails the dispatch, tokens received here, the most that any rank receives, then tokens of each
/// local expert.
struct Counted {
  int32_t bad_rank;    // a rank whose arguments are bad, or -1
  int32_t other_rank;  // a rank that was called with other sizes than rank 0, or -1
  int32_t received, most;
  int32_t of_expert[1];
};

/// Is the token for an expert of `rank`?
CAUSEWAY_DEVICE bool goes_to(const int64_t* topk_idx, int topk, int experts, int ranks, int rank) {
  for (int k = 0; k < topk; ++k)
    if (topk_idx[k] >= 0 && topk_idx[k] < experts && rank_of_expert(topk_idx[k], experts, ranks) == rank) return true;
  return false;
}

/// Tokens per rank, per expert, and who gets which. By one group; any of the results may be null.
struct LayoutKernel {
  const int64_t* topk_idx;
  int tokens, topk, experts, ranks;
  int32_t *tokens_per_rank, *tokens_per_expert;
  bool* token_in_rank;
  CAUSEWAY_DEVICE void operator()() const {
    const KernelGroup group{};
    for (int rank = int(group.rank()); rank < ranks; rank += int(group.size())) {
      int32_t count = 0;
      for (int t = 0; t < tokens; ++t) {
        const bool goes = goes_to(topk_idx + size_t(t) * size_t(topk), topk, experts, ranks, rank);
        count += goes;
        if (token_in_rank) token_in_rank[size_t(t) * size_t(ranks) + size_t(rank)] = goes;
      }
      if (tokens_per_rank) tokens_per_rank[rank] = count;
    }
    if (!tokens_per_expert) return;
    for (int expert = int(group.rank()); expert < experts; expert += int(group.size())) {
      int32_t count = 0;
      for (size_t i = 0; i < size_t(tokens) * size_t(topk); ++i) count += topk_idx[i] == expert;
      tokens_per_expert[expert] = count;
    }
  }
};

/// Positions of the tokens, and the exchange of counts. By one group.
struct CountKernel {
  Place place;
  const int64_t* topk_idx;
  Route route;
  int32_t signature;  // of what all ranks must agree about; negative: this rank's arguments are bad
  int32_t* scratch;   // by thread of the group and rank
  Counted* counted;   // memory that the host can read

  CAUSEWAY_DEVICE void operator()() const {
    const KernelGroup group{};
    const TeamView& team = place.view();
    const int ranks = team.pes, experts = route.experts;
    const int32_t said = indices_are_good(group) ? signature : -1;
    position(group, ranks);
    // Everyone's last counts are consumed once all have come.
    sync(place.world, "moe dispatch", group, team);
    auto* table = reinterpret_cast<int32_t*>(place.region + throughput_places(place.limits).counts);
    int32_t* row = table + size_t(team.pe) * counts_row(place.limits);
    for (int rank = int(group.rank()); rank < ranks; rank += int(group.size())) {
      const int32_t sent = scratch[(group.size() - 1) * unsigned(ranks) + unsigned(rank)];
      for (int k = 0; k < ranks; ++k) machine::store_peer(place.of_rank(row + rank, k), sent);
    }
    for (int expert = int(group.rank()); expert < experts; expert += int(group.size())) {
      int32_t count = 0;
      for (size_t i = 0; i < size_t(route.tokens) * size_t(route.topk); ++i) count += topk_idx[i] == expert;
      machine::store_peer(place.of_rank(row + ranks + expert, rank_of_expert(expert, experts, ranks)), count);
    }
    for (int rank = int(group.rank()); rank < ranks; rank += int(group.size()))
      machine::store_peer(place.of_rank(row + counts_row(place.limits) - 1, rank), said);
    sync(place.world, "moe dispatch", group, team);
    if (leads(group)) evaluate(table, ranks, team.pe);
    group.sync();
  }

 private:
  /// Are all entries of topk_idx experts, or -1? All threads of the group get the answer.
  CAUSEWAY_DEVICE bool indices_are_good(KernelGroup group) const {
    int32_t* bad = route.send_offset;  // not in use yet
    if (leads(group)) *bad = 0;
    group.sync();
    for (size_t i = group.rank(); i < size_t(route.tokens) * size_t(route.topk); i += group.size())
      if (topk_idx[i] < -1 || topk_idx[i] >= route.experts) *static_cast<volatile int32_t*>(bad) = 1;
    group.sync();
    const bool good = *static_cast<volatile int32_t*>(bad) == 0;
    group.sync();
    return good;
  }

  /// Each thread takes a run of tokens; scratch becomes the inclusive sums over the threads.
  CAUSEWAY_DEVICE void position(KernelGroup group, int ranks) const {
    const int run = (route.tokens + int(group.size()) - 1) / int(group.size());
    const int begin = run * int(group.rank()) < route.tokens ? run * int(group.rank()) : route.tokens;
    const int end = begin + run < route.tokens ? begin + run : route.tokens;
    int32_t* mine = scratch + group.rank() * unsigned(ranks);
    for (int rank = 0; rank < ranks; ++rank) {
      int32_t count = 0;
      for (int t = begin; t < end; ++t)
        count += goes_to(topk_idx + size_t(t) * size_t(route.topk), route.topk, route.experts, ranks, rank);
      mine[rank] = count;
    }
    group.sync();
    for (int rank = int(group.rank()); rank < ranks; rank += int(group.size()))
      for (unsigned thread = 1; thread < group.size(); ++thread)
        scratch[thread * unsigned(ranks) + unsigned(rank)] += scratch[(thread - 1) * unsigned(ranks) + unsigned(rank)];
    group.sync();
    for (int rank = 0; rank < ranks; ++rank) {
      int32_t next = group.rank() == 0 ? 0 : scratch[(group.rank() - 1) * unsigned(ranks) + unsigned(rank)];
      for (int t = begin; t < end; ++t) {
        const bool goes = goes_to(topk_idx + size_t(t) * size_t(route.topk), route.topk, route.experts, ranks, rank);
        route.position[size_t(t) * size_t(ranks) + size_t(rank)] = goes ? next++ : -1;
      }
    }
    group.sync();
  }

  CAUSEWAY_DEVICE void evaluate(const int32_t* table, int ranks, int me) const {
    const size_t row = counts_row(place.limits);
    counted->bad_rank = counted->other_rank = -1;
    for (int from = 0; from < ranks; ++from) {
      const int32_t said = table[size_t(from + 1) * row - 1];
      if (said < 0 && counted->bad_rank < 0) counted->bad_rank = from;
      if (said != table[row - 1] && counted->other_rank < 0) counted->other_rank = from;
    }
    int32_t most = 0;
    for (int to = 0; to < ranks; ++to) {
      int32_t all = 0;
      for (int from = 0; from < ranks; ++from) {
        if (from == me) route.send_offset[to] = all;
        all += table[size_t(from) * row + size_t(to)];
        if (to == me) route.recv_prefix[from] = all;
      }
      most = all > most ? all : most;
      if (to == me) counted->received = all;
    }
    counted->most = counted->other_rank < 0 && counted->bad_rank < 0 ? most : INT32_MAX;  // then nothing is sent
    const int local = route.experts / ranks;
    for (int expert = 0; expert < local; ++expert) {
      int32_t all = 0;
      for (int from = 0; from < ranks; ++from) all += table[size_t(from) * row + size_t(ranks + me * local + expert)];
      counted->of_expert[expert] = all;
    }
    machine::fence_sc_sys();
  }
};

/// Tokens to the ranks of their experts. Blocks take tokens in turn; the threads of a block share a row.
struct SendKernel {
  Place place;
  Route route;
  const char* x;
  size_t row_bytes;
  const float* scales;      // null: there are none
  const int64_t* topk_idx;  // null: only x and scales travel (the route is used again)
  const float* topk_weights;
  const Counted* counted;  // null: known to fit

  CAUSEWAY_DEVICE void operator()() const {
    if (counted && counted->most > place.limits.recv_tokens) return;  // the host says so
    const KernelGroup group{};
    const TeamView& team = place.view();
    const ThroughputPlaces there = throughput_places(place.limits);
    const size_t scale_bytes = row_bytes / size_t(kScaleBlock) * sizeof(float);  // FP8: one byte an element
    for (int t = int(machine::block_in_grid()); t < route.tokens; t += int(machine::blocks_in_grid()))
      for (int k = 0; k < team.pes; ++k) {
        const int rank = (team.pe + k) % team.pes;
        const int32_t position = route.position[size_t(t) * size_t(team.pes) + size_t(rank)];
        if (position < 0) continue;
        const size_t slot = size_t(route.send_offset[rank] + position);
        char* region = place.of_rank(place.region, rank);
        copy(group, Towards::peer, region + there.x + slot * row_bytes, x + size_t(t) * row_bytes, row_bytes);
        if (scales)
          copy(group, Towards::peer, region + there.scales + slot * scale_bytes,
               reinterpret_cast<const char*>(scales) + size_t(t) * scale_bytes, scale_bytes);
        if (topk_idx) send_topk(group, region, there, slot, t, rank, team.pes);
      }
  }

 private:
  CAUSEWAY_DEVICE void send_topk(KernelGroup group, char* region, const ThroughputPlaces& there, size_t slot, int t,
                                 int rank, int ranks) const {
    const int local = route.experts / ranks;
    const size_t topk = size_t(route.topk);
    for (size_t k = group.rank(); k < topk; k += group.size()) {
      const int64_t expert = topk_idx[size_t(t) * topk + k];
      const bool here = expert >= 0 && rank_of_expert(expert, route.experts, ranks) == rank;
      const int64_t number = here ? expert - int64_t(rank) * local : -1;
      machine::store_peer(reinterpret_cast<int64_t*>(region + there.topk) + slot * topk + k, number);
      const float weight = here && topk_weights ? topk_weights[size_t(t) * topk + k] : 0.0f;
      machine::store_peer(reinterpret_cast<float*>(region + there.weights) + slot * topk + k, weight);
    }
    if (leads(group)) machine::store_peer(reinterpret_cast<int32_t*>(region + there.source) + slot, t);
  }
};

/// What combine is to take from this rank, into symmetric memory.
struct HandOverKernel {
  Place place;
  const char* x;
  size_t row_bytes;
  const float* weights;  // null: none
  int tokens, topk;
  CAUSEWAY_DEVICE void operator()() const {
    const KernelGroup group{};
    const ThroughputPlaces here = throughput_places(place.limits);
    for (int t = int(machine::block_in_grid()); t < tokens; t += int(machine::blocks_in_grid())) {
      copy(group, Towards::self, place.region + here.back + size_t(t) * row_bytes, x + size_t(t) * row_bytes,
           row_bytes);
      const size_t bytes = size_t(topk) * sizeof(float);
      if (weights)
        copy(group, Towards::self, place.region + here.back_weights + size_t(t) * bytes,
             weights + size_t(t) * size_t(topk), bytes);
    }
  }
};

/// Sums of what the ranks of a token's experts have handed over.
struct PullKernel {
  Place place;
  Route route;
  __nv_bfloat16* out;
  float* out_weights;  // null: not wanted
  CAUSEWAY_DEVICE void operator()() const {
    const KernelGroup group{};
    const TeamView& team = place.view();
    const ThroughputPlaces there = throughput_places(place.limits);
    const size_t hidden = size_t(route.hidden);
    for (int t = int(machine::block_in_grid()); t < route.tokens; t += int(machine::blocks_in_grid())) {
      const int32_t* position = route.position + size_t(t) * size_t(team.pes);
      constexpr int kPack = 8;  // elements of 16 bytes
      for (size_t i = group.rank() * kPack; i < hidden; i += group.size() * kPack) {
        float sum[kPack] = {};
        for (int rank = 0; rank < team.pes; ++rank) {
          if (position[rank] < 0) continue;
          const size_t slot = size_t(route.send_offset[rank] + position[rank]);
          const char* from = place.of_rank(place.region, rank) + there.back + (slot * hidden + i) * 2;
          const auto pack = machine::load_peer16<Eight>(from);
          for (int k = 0; k < kPack; ++k) sum[k] += static_cast<float>(pack.value[k]);
        }
        Eight result;
        for (int k = 0; k < kPack; ++k) result.value[k] = static_cast<__nv_bfloat16>(sum[k]);
        machine::store_peer16(out + size_t(t) * hidden + i, result);
      }
      if (out_weights) pull_weights(group, team, there, t, position);
    }
  }

 private:
  struct alignas(16) Eight {
    __nv_bfloat16 value[8];
  };
  CAUSEWAY_DEVICE void pull_weights(KernelGroup group, const TeamView& team, const ThroughputPlaces& there, int t,
                                    const int32_t* position) const {
    const size_t topk = size_t(route.topk);
    for (size_t k = group.rank(); k < topk; k += group.size()) {
      float sum = 0;
      for (int rank = 0; rank < team.pes; ++rank) {
        if (position[rank] < 0) continue;
        const size_t slot = size_t(route.send_offset[rank] + position[rank]);
        const char* from = place.of_rank(place.region, rank) + there.back_weights;
        sum += machine::load_peer(reinterpret_cast<const float*>(from) + slot * topk + k);
      }
      out_weights[size_t(t) * topk + k] = sum;
    }
  }
};

/// Everyone meets; what was written before is visible after.
struct MeetKernel {
  Place place;
  CAUSEWAY_DEVICE void operator()() const { sync(place.world, "moe", KernelGroup{}, place.view()); }
};

}  // namespace causeway::moe
