// Low-latency dispatch and combine: the kernels. Every token goes straight to each of its experts' ranks, into a slot that no
// other token has; a flag for each expert and source rank says how many came. No meeting of ranks and no host wait, so an
// operation is a send kernel and a receive kernel, and in between no block is held.
//
// Why buffers can be used again: there are two sets, used in turn. In operation n a rank clears the flags of the other set
// (consumed by its operation n-1, which its stream has finished) before it sends its own flags of operation n, and those are
// released behind the clearing. A peer sends into that set in operation n+1 only, after it has received this rank's flags of
// operation n. The same order protects the data of operation n-1.
#pragma once
#include <causeway/machine/report_misuse.hpp>
#include <causeway/machine/spin.hpp>
#include <causeway/moe/fp8.hpp>
#include <causeway/moe/throughput.hpp>

namespace causeway::moe {

/// Sizes of the low-latency region; all ranks have the same.
struct LowLatencyLimits {
  int ranks = 0, hidden = 0, topk = 0, experts = 0;
  int tokens = 0;  // of a rank in one operation; 0: no low-latency mode
};

/// Offsets in one of the two sets.
struct LowLatencyPlaces {
  size_t dispatch_flags;  // by own expert and source rank: tokens that came and 1 (uint32)
  size_t combine_flags;   // by expert of the job: 1 when its results have come (uint32)
  size_t messages;        // by own expert, source rank and slot: a header and a row
  size_t message_bytes;
  size_t results;  // by token and choice: a row of bfloat16
  size_t bytes;
};

constexpr size_t kHeaderBytes = 16;  // the token and choice that a message is for

CAUSEWAY_HOST_DEVICE constexpr LowLatencyPlaces low_latency_places(const LowLatencyLimits& limits) {
  const size_t flags = size_t(limits.experts) * sizeof(uint32_t), hidden = size_t(limits.hidden);
  LowLatencyPlaces at{};
  at.dispatch_flags = 0;
  at.combine_flags = at.dispatch_flags + aligned(flags);
  at.messages = at.combine_flags + aligned(flags);
  at.message_bytes = kHeaderBytes + hidden * 2;
  at.results = at.messages + aligned(size_t(limits.experts) * size_t(limits.tokens) * at.message_bytes);
  at.bytes = at.results + aligned(size_t(limits.tokens) * size_t(limits.topk) * hidden * 2);
  return at;
}

/// What every kernel of the mode gets. `set` and `other_set` are the two halves of symmetric memory.
struct LowLatencyPlace {
  DeviceWorld world;
  int team;
  LowLatencyLimits limits;
  char *set, *other_set;
  uint32_t* sent;  // own memory: by expert, messages of this operation; then blocks that are through
  CAUSEWAY_DEVICE const TeamView& view() const { return world.teams[team]; }
  template <class T>
  CAUSEWAY_DEVICE T* of_rank(T* local, int rank) const {
    return at(world, local, world_pe(view(), rank));
  }
  [[nodiscard]] CAUSEWAY_DEVICE int local_experts() const { return limits.experts / limits.ranks; }
};

namespace detail {

/// True in the leader of the last block of the grid to get here; everything that all blocks did is then visible to it.
CAUSEWAY_DEVICE bool last_block(KernelGroup group, uint32_t* through) {
  group.sync();
  if (!leads(group)) return false;
  machine::fence_acq_rel_sys();
  if (machine::fetch_add_sys(through, 1u) + 1 != machine::blocks_in_grid()) return false;
  machine::fence_acq_rel_sys();
  *through = 0;
  return true;
}

/// Waits, as one group, until the flag is set; gives it to all threads.
CAUSEWAY_DEVICE uint32_t wait_for_flag(const DeviceWorld& world, KernelGroup group, const uint32_t* flag, int peer) {
  if (leads(group)) {
    const auto describe = [&] { return WaitInfo{"moe low latency", peer, flag, 1, ">="}; };
    spin_until(world, describe, [&](uint64_t& seen) { return (seen = machine::load_acquire_sys(flag)) != 0; });
  }
  group.sync();
  return machine::load_relaxed_sys(flag);
}

}  // namespace detail

struct LowLatencySend {
  LowLatencyPlace place;
  const __nv_bfloat16* x;
  const int64_t* topk_idx;
  int tokens, topk, hidden;
  bool fp8;
  int32_t* recv_count;  // cleared here, for the receive kernel
  int64_t* slot;        // own memory, by block: the slot that its leader has drawn

  CAUSEWAY_DEVICE void operator()() const {
    const KernelGroup group{};
    const TeamView& team = place.view();
    const LowLatencyPlaces at_set = low_latency_places(place.limits);
    const int local = place.local_experts();
    if (machine::block_in_grid() == 0)
      for (int e = int(group.rank()); e < local; e += int(group.size())) recv_count[e] = 0;
    for (int i = int(machine::block_in_grid()); i < tokens * topk; i += int(machine::blocks_in_grid())) {
      const int64_t expert = topk_idx[i];
      if (expert < 0 || expert >= place.limits.experts) continue;
      if (leads(group)) slot[machine::block_in_grid()] = machine::fetch_add_sys(place.sent + expert, 1u);
      group.sync();
      const size_t drawn = size_t(slot[machine::block_in_grid()]);
      if (drawn >= size_t(place.limits.tokens)) {  // an expert twice for one token: there is one slot for each
        if (leads(group) && drawn == size_t(place.limits.tokens))
          misuse(place.world, "low_latency_dispatch",
                 "topk_idx must name an expert once a token (expert, most rows of an expert)",
                 static_cast<long long>(expert), place.limits.tokens);
        group.sync();
        continue;
      }
      const int rank = int(expert) / local;
      const size_t message =
          (size_t(expert % local) * size_t(team.pes) + size_t(team.pe)) * size_t(place.limits.tokens) + drawn;
      char* to = place.of_rank(place.set, rank) + at_set.messages + message * at_set.message_bytes;
      if (leads(group)) machine::store_peer(reinterpret_cast<int64_t*>(to), int64_t(i));
      const __nv_bfloat16* row = x + size_t(i / topk) * size_t(hidden);
      if (fp8)
        cast(group, to + kHeaderBytes, row);
      else
        copy(group, Towards::peer, to + kHeaderBytes, row, size_t(hidden) * 2);
      group.sync();
    }
    uint32_t* through = place.sent + place.limits.experts;
    if (detail::last_block(group, through)) finish(team, at_set, local);
  }

 private:
  /// Blocks of 128 elements, each divided by its own scale; the scales follow the row.
  CAUSEWAY_DEVICE void cast(KernelGroup group, char* to, const __nv_bfloat16* row) const {
    for (int b = int(group.rank()); b < hidden / kScaleBlock; b += int(group.size())) {
      float most = 1e-4f;
      for (int i = 0; i < kScaleBlock; ++i) {
        const float v = static_cast<float>(row[b * kScaleBlock + i]);
        most = v > most ? v : -v > most ? -v : most;
      }
      const float factor = kE4m3Max / most;
      for (int i = 0; i < kScaleBlock; i += 8) {
        uint64_t eight = 0;
        for (int k = 0; k < 8; ++k)
          eight |= uint64_t(to_e4m3(static_cast<float>(row[b * kScaleBlock + i + k]) * factor)) << (8 * k);
        machine::store_peer(reinterpret_cast<uint64_t*>(to + b * kScaleBlock + i), eight);
      }
      machine::store_peer(reinterpret_cast<float*>(to + hidden) + b, most / kE4m3Max);
    }
  }

  CAUSEWAY_DEVICE void finish(const TeamView& team, const LowLatencyPlaces& at_set, int local) const {
    auto* other = reinterpret_cast<uint32_t*>(place.other_set + at_set.dispatch_flags);
    for (int i = 0; i < place.limits.experts; ++i) machine::store_relaxed_sys(other + i, 0u);
    machine::fence_acq_rel_sys();  // the messages of all blocks, and the clearing, before any flag
    for (int expert = 0; expert < place.limits.experts; ++expert) {
      auto* flags = reinterpret_cast<uint32_t*>(place.set + at_set.dispatch_flags);
      uint32_t* flag = place.of_rank(flags + expert % local * team.pes + team.pe, expert / local);
      const uint32_t most = uint32_t(place.limits.tokens);
      machine::store_relaxed_sys(flag, (place.sent[expert] < most ? place.sent[expert] : most) + 1);
      place.sent[expert] = 0;
    }
  }
};

/// What a receive kernel leaves for combine: where the tokens of a source rank lie among an expert's, and what they are.
struct LowLatencyRoute {
  int32_t* begin;  // by own expert and source rank
  int32_t* count;
  int64_t* choice;  // by own expert and row: token * topk + choice, at its source
};

struct LowLatencyReceive {
  LowLatencyPlace place;
  LowLatencyRoute route;
  int hidden;
  bool fp8;
  char* x;  // by own expert and row: hidden elements
  float* scales;
  int32_t* recv_count;

  CAUSEWAY_DEVICE void operator()() const {
    const KernelGroup group{};
    const TeamView& team = place.view();
    const LowLatencyPlaces at_set = low_latency_places(place.limits);
    const size_t rows = size_t(team.pes) * size_t(place.limits.tokens), row_bytes = size_t(hidden) * (fp8 ? 1 : 2);
    const int pairs = place.limits.experts;  // own experts times source ranks
    for (int pair = int(machine::block_in_grid()); pair < pairs; pair += int(machine::blocks_in_grid())) {
      const auto* flags = reinterpret_cast<const uint32_t*>(place.set + at_set.dispatch_flags);
      const int from = world_pe(team, pair % team.pes);
      const int32_t count = int32_t(detail::wait_for_flag(place.world, group, flags + pair, from)) - 1;
      const int expert = pair / team.pes;
      if (leads(group)) {
        route.begin[pair] =
            int32_t(machine::fetch_add_sys(reinterpret_cast<uint32_t*>(recv_count + expert), uint32_t(count)));
        route.count[pair] = count;
      }
      group.sync();
      const size_t begin = size_t(expert) * rows + size_t(route.begin[pair]);
      for (int32_t j = 0; j < count; ++j) {
        const char* message = place.set + at_set.messages +
                              (size_t(pair) * size_t(place.limits.tokens) + size_t(j)) * at_set.message_bytes;
        copy(group, Towards::self, x + (begin + size_t(j)) * row_bytes, message + kHeaderBytes, row_bytes);
        if (fp8)
          copy(group, Towards::self, scales + (begin + size_t(j)) * size_t(hidden / kScaleBlock),
               message + kHeaderBytes + hidden, size_t(hidden / kScaleBlock) * sizeof(float));
        if (leads(group))
          route.choice[begin + size_t(j)] = machine::load_peer(reinterpret_cast<const int64_t*>(message));
      }
    }
  }
};

/// Results back to the tokens' owners, each into the place of its token and choice.
struct LowLatencyReturn {
  LowLatencyPlace place;
  LowLatencyRoute route;
  const char* x;
  int hidden;

  CAUSEWAY_DEVICE void operator()() const {
    const KernelGroup group{};
    const TeamView& team = place.view();
    const LowLatencyPlaces at_set = low_latency_places(place.limits);
    const size_t rows = size_t(team.pes) * size_t(place.limits.tokens), row_bytes = size_t(hidden) * 2;
    for (int pair = int(machine::block_in_grid()); pair < place.limits.experts;
         pair += int(machine::blocks_in_grid())) {
      const size_t begin = size_t(pair / team.pes) * rows + size_t(route.begin[pair]);
      char* results = place.of_rank(place.set, pair % team.pes) + at_set.results;
      for (int32_t j = 0; j < route.count[pair]; ++j)
        copy(group, Towards::peer, results + size_t(route.choice[begin + size_t(j)]) * row_bytes,
             x + (begin + size_t(j)) * row_bytes, row_bytes);
    }
    if (!detail::last_block(group, place.sent + place.limits.experts)) return;
    auto* other = reinterpret_cast<uint32_t*>(place.other_set + at_set.combine_flags);
    for (int i = 0; i < place.limits.experts; ++i) machine::store_relaxed_sys(other + i, 0u);
    machine::fence_acq_rel_sys();
    const int local = place.local_experts();
    for (int rank = 0; rank < team.pes; ++rank)
      for (int e = 0; e < local; ++e) {
        auto* flags = reinterpret_cast<uint32_t*>(place.set + at_set.combine_flags);
        machine::store_relaxed_sys(place.of_rank(flags + team.pe * local + e, rank), 1u);
      }
  }
};

/// Weighted sums of the results, in the order of a token's choices, in float, rounded once.
struct LowLatencySum {
  LowLatencyPlace place;
  const int64_t* topk_idx;
  const float* weights;
  int tokens, topk, hidden;
  __nv_bfloat16* out;

  CAUSEWAY_DEVICE void operator()() const {
    const KernelGroup group{};
    const TeamView& team = place.view();
    const LowLatencyPlaces at_set = low_latency_places(place.limits);
    const auto* flags = reinterpret_cast<const uint32_t*>(place.set + at_set.combine_flags);
    for (int e = 0; e < place.limits.experts; ++e)
      detail::wait_for_flag(place.world, group, flags + e, world_pe(team, e / place.local_experts()));
    const auto* results = reinterpret_cast<const __nv_bfloat16*>(place.set + at_set.results);
    for (int t = int(machine::block_in_grid()); t < tokens; t += int(machine::blocks_in_grid()))
      for (int h = int(group.rank()); h < hidden; h += int(group.size())) {
        float sum = 0;
        for (int k = 0; k < topk; ++k) {
          const size_t choice = size_t(t) * size_t(topk) + size_t(k);
          if (topk_idx[choice] < 0 || topk_idx[choice] >= place.limits.experts) continue;
          sum +=
              weights[choice] * static_cast<float>(machine::load_peer(results + choice * size_t(hidden) + size_t(h)));
        }
        out[size_t(t) * size_t(hidden) + size_t(h)] = static_cast<__nv_bfloat16>(sum);
      }
  }
};

}  // namespace causeway::moe
