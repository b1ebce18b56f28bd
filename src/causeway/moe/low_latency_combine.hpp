// Low-latency combine: the return and the sum kernel (see low_latency.hpp).
//
// Only a token's owner knows its weights. So the return kernel first pushes them to the experts' ranks. Each goes in
// one 8-byte store together with the operation's number, so it needs no flag. There the rows of a token are summed, and
// one row goes back.
//
// Why the blocks need not all be resident at a time, though they wait for blocks of other ranks' return kernels. Block
// b waits only for weights of blocks 0 to b. These push their weights before they wait for any (pusher_of). All ranks
// have the same number of blocks and distribute the messages alike. A GPU starts the blocks of a grid in the order of
// their numbers. Take the lowest number of a block that has not ended on some rank. What it waits for comes from blocks
// that have ended, or from blocks of its own number. Such a block runs, or is the next of its grid to start, and no
// other block of the grid holds it up. So all of them push, and end. (What else may occupy a GPU: see low_latency.hpp.)
#pragma once
#include <causeway/moe/low_latency_errors.hpp>

namespace causeway::moe {

struct LowLatencyReturn {
  LowLatencyContext context;
  const __nv_bfloat16* x;
  const int64_t* topk_idx;
  const float* weights;
  int tokens, topk, hidden;
  Divisor of_token;                // topk
  Divisor blocks;                  // of the grid
  bool bad;                        // the caller's arguments are bad: its peers get weights of zero and no rows
  Text<ErrorMessage::kRoom> what;  // if bad

  CAUSEWAY_DEVICE void operator()() const {
    const KernelGroup group{};
    const uint64_t n = context.next_operation(kCombine);
    detail::wait_for_credits(context, group, kCombine, n);
    const LowLatencyLayout& layout = context.layout;
    const int messages = context.rows.value();
    const Parts parts(messages);
    const bool wrong = !push_weights(group, parts, layout, n);
    for (int unit = worker(); !bad && unit < parts.units(messages); unit += workers())
      send(layout, n, parts.row(unit), parts.of(hidden / 8, unit));
    detail::finish_send(context, group, kCombine, n, bad || wrong, [&] { send_error(n); });
  }

 private:
  CAUSEWAY_DEVICE_LARGE void send_error(uint64_t n) const {
    ErrorMessage error{n, what};
    if (!bad) describe_another_expert(error.text, topk_idx, context.sent, tokens, topk, context.limits.experts);
    detail::send_to_all(context, kCombine, error);
  }

  /// The first of the blocks of an expert's rank that handle parts of the message of one of the caller's tokens. (A
  /// unit belongs to worker unit % workers, and a worker to block worker % blocks.)
  CAUSEWAY_DEVICE int pusher_of(const Parts& parts, int token) const {
    const int first = blocks.remainder(parts.units(int(context.message(context.view().pe, token))));
    return first + parts.units(1) > blocks.value() ? 0 : first;
  }
  /// The tokens whose weights the caller's block pushes: `begin` and every `step`-th after it. Where messages are split
  /// into parts (few messages), only those whose pusher_of() is the caller's block (`filtered`).
  struct Pushed {
    int begin, step;
    bool filtered;
  };
  CAUSEWAY_DEVICE Pushed pushed_here(const Parts& parts) const {
    if (parts.units(1) > 1) return {0, 1, true};
    const int offset = blocks.remainder(int(context.message(context.view().pe, 0)));
    return {blocks.remainder(int(machine::block_in_grid()) + blocks.value() - offset), blocks.value(), false};
  }

  /// Pushes the weights of the block's tokens. A choice that has become -1 counts nothing, but its expert's rank still
  /// waits for a weight. False: a choice is another expert than in the dispatch.
  CAUSEWAY_DEVICE bool push_weights(KernelGroup group, const Parts& parts, const LowLatencyLayout& layout,
                                    uint64_t n) const {
    const Lanes lanes{};
    const int first = int(group.rank()), step = int(group.size()), own_block = int(machine::block_in_grid());
    const Pushed here = pushed_here(parts);
    auto* own = reinterpret_cast<uint64_t*>(context.set(n) + layout.weights) +
                context.message(context.view().pe, 0) * size_t(context.limits.topk);
    if (bad) {  // the ranks that the tokens were sent to are not known
      for (int t = here.begin + first * here.step; t < context.limits.tokens; t += step * here.step) {
        if (here.filtered && pusher_of(parts, t) != own_block) continue;
        for (int i = t * context.limits.topk; i < (t + 1) * context.limits.topk; ++i)
          for (int r = 0; r < context.limits.ranks; ++r)
            if (!context.masked(r)) machine::store_peer(context.of_rank(own + i, r), n << 32);
      }
      return true;
    }
    bool good = true;
    Masks masks(lanes, context);
    masks.get(lanes);
    for (int i = first;; i += step) {
      const int t = here.begin + of_token.quotient(i) * here.step, k = of_token.remainder(i);
      if (t >= tokens) break;
      if (here.filtered && pusher_of(parts, t) != own_block) continue;
      const size_t choice = size_t(t) * size_t(topk) + size_t(k);
      const int64_t given = topk_idx[choice], sent = context.sent[choice];
      const int rank = context.map.rank_of(sent);
      if (rank < 0) {
        good = context.map.rank_of(given) < 0 && good;
        continue;
      }
      good = (given == sent || given == -1) && good;
      if (masks.has(rank)) continue;
      const size_t at = size_t(t) * size_t(context.limits.topk) + size_t(k);
      const float weight = given == sent ? weights[choice] : 0.0f;
      machine::store_peer(context.of_rank(own + at, rank), n << 32 | same_bits<uint32_t>(weight));
    }
    return good;
  }

  /// Waits for the weight of a choice of a message. False if its owner is masked.
  CAUSEWAY_DEVICE bool wait_for_weight(const uint64_t* word, int source, uint64_t n, float& weight) const {
    uint64_t got = 0;
    const bool there =
        detail::wait_for_rank(context, "low_latency_combine: weights", source, word, n, [&](uint64_t& seen, bool) {
          got = machine::load_relaxed_sys(word);
          seen = got >> 32;
          return uint32_t(seen) == uint32_t(n);
        });
    const auto bits = uint32_t(got);
    __builtin_memcpy(&weight, &bits, sizeof weight);
    return there;
  }

  CAUSEWAY_DEVICE void send(const LowLatencyLayout& layout, uint64_t n, int message, Run packs) const {
    const Lanes lanes{};
    const int source = context.tokens.quotient(message), own = int(lanes.rank());
    const int32_t* rows = context.row_of_choice + size_t(message) * size_t(context.limits.topk);
    const auto* words = reinterpret_cast<const uint64_t*>(context.set(n) + layout.weights) +
                        size_t(message) * size_t(context.limits.topk);
    // A lane waits for one choice's weight. The CPU machine's only lane waits for one after the other.
    float mine = 0;
    const auto wait_for_weights = [&] {
      bool there = true;
      for (int k = own; k < context.limits.topk; k += int(lanes.size()))
        if (rows[k] >= 0) there = wait_for_weight(words + k, source, n, mine) && there;
      return ballot(lanes, !there) == 0;
    };
    const auto weight = [&](int k) {
      if (kLanesPerScale > 1) return from_lane(lanes, mine, unsigned(k));
      float value = 0;
      const auto bits = uint32_t(machine::load_relaxed_sys(words + k));
      __builtin_memcpy(&value, &bits, sizeof value);
      return value;
    };
    const int32_t row_here = own < context.limits.topk ? rows[own] : -1;
    uint32_t chosen = ballot(lanes, row_here >= 0);  // the choices that have a row here
    for (int k = 1; kLanesPerScale == 1 && k < context.limits.topk; ++k) chosen |= uint32_t(rows[k] >= 0) << k;
    if (chosen == 0) return;
    const auto row = [&](int k) {
      const int32_t at = kLanesPerScale > 1 ? from_lane(lanes, row_here, unsigned(k)) : rows[k];
      return reinterpret_cast<const char*>(x) + size_t(at) * size_t(hidden) * 2;
    };
    char* result =
        context.of_rank(context.set(n) + layout.results, source) +
        context.message(context.view().pe, context.tokens.remainder(message)) * size_t(context.limits.hidden) * 2;
    sum_rows<InRegisters>(lanes, packs.begin, packs.end, chosen, row, weight, wait_for_weights, result);
  }
};

/// The ranks' sums of a token, added in the order of ranks. What counts is what the operation has decided about a rank,
/// not what the mask says by then.
struct LowLatencySum {
  LowLatencyContext context;
  int tokens, topk, hidden;
  __nv_bfloat16* out;
  bool bad;  // the caller's arguments are bad: nothing is summed

  CAUSEWAY_DEVICE void operator()() const {
    const uint64_t n = *context.operation.number;
    const KernelGroup group{};
    const Lanes lanes{};
    const LowLatencyLayout& layout = context.layout;
    detail::wait_for_flags(context, group, kCombine, n, nullptr);
    if (machine::block_in_grid() == 0 && leads(group)) detail::report_bad(context, kCombine, n, bad);
    const Parts parts(tokens);
    for (int unit = worker(); !bad && unit < parts.units(tokens); unit += workers())
      sum_up(lanes, layout, n, parts.row(unit), parts.of(hidden / 8, unit));
    detail::give_credits(context, group, kCombine, n);
  }

 private:
  CAUSEWAY_DEVICE void sum_up(Lanes lanes, const LowLatencyLayout& layout, uint64_t n, int t, Run packs) const {
    const int64_t* choices = context.sent + size_t(t) * size_t(topk);
    const auto row = [&](int rank) {
      return context.set(n) + layout.results + context.message(rank, t) * size_t(context.limits.hidden) * 2;
    };
    char* to = reinterpret_cast<char*>(out) + size_t(t) * size_t(hidden) * 2;
    if (kLanesPerScale > 1 && context.limits.ranks <= int(lanes.size())) {
      const int lane = int(lanes.rank());
      const uint32_t outcome =
          lane < context.limits.ranks ? machine::load_relaxed_sys(context.operation.outcome + lane) : uint32_t(kOpen);
      const uint32_t ranks = ranks_of(lanes, context, choices, topk) & ballot(lanes, outcome == kCame);
      sum_rows<InRegisters>(
          lanes, packs.begin, packs.end, ranks, row, [](int) { return 1.0f; }, [] { return true; }, to);
      return;
    }
    for (int base = packs.begin; base < packs.end; base += InRegisters::kPacks * int(lanes.size())) {
      PackSum<InRegisters::kPacks> sum(lanes, base, packs.end);
      for (int r = 0; r < context.limits.ranks; ++r)
        if (goes_to(choices, topk, context.map, r) && detail::came(context, r)) sum.add(row(r), 1.0f);
      sum.store(to);
    }
  }
};

}  // namespace causeway::moe
