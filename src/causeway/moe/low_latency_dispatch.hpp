// Low-latency dispatch: the send and the receive kernel (see low_latency.hpp).
#pragma once
#include <causeway/base/numbers.hpp>
#include <causeway/moe/low_latency_errors.hpp>

namespace causeway::moe {

/// How the scales of FP8 messages are made and stored. (The values of Cast in moe.hpp.)
enum class Scaling { none, plain, rounded, exponent };

struct LowLatencySend {
  LowLatencyContext context;
  const __nv_bfloat16* x;
  const int64_t* topk_idx;
  int tokens, topk, hidden;
  Divisor of_token;  // topk
  Scaling scaling;
  bool bad;                        // the caller's arguments are bad: it takes part with no token
  Text<ErrorMessage::kRoom> what;  // if bad

  CAUSEWAY_DEVICE void operator()() const {
    const KernelGroup group{};
    const Lanes lanes{};
    const uint64_t n = context.next_operation(kDispatch);
    detail::wait_for_credits(context, group, kDispatch, n);
    // The last workers assign rows, the first ones send tokens.
    for (int e = workers() - 1 - worker(); e < context.limits.experts; e += workers()) assign_rows(lanes, e, n);
    const Parts parts(tokens, context.limits.experts);
    bool wrong = bad;
    for (int unit = worker(); unit < parts.units(tokens); unit += workers()) {
      const int t = parts.row(unit);
      const Run blocks = parts.of(divided_up(hidden, kScaleBlock), unit);
      if (scaling == Scaling::none)
        send_part(lanes, t, n, blocks);
      else
        cast_part(lanes, t, n, blocks);
      if (parts.part(unit) == 0) wrong = !send_header(lanes, t, n) || wrong;
    }
    detail::finish_send(context, group, kDispatch, n, wrong, [&] { send_error(n); });
  }

 private:
  CAUSEWAY_DEVICE_LARGE void send_error(uint64_t n) const {
    ErrorMessage error{n, what};
    if (!bad) describe_no_expert(error.text, topk_idx, tokens, topk, context.limits.experts);
    detail::send_to_all(context, kDispatch, error);
  }

  CAUSEWAY_DEVICE Header* header_of(int t, uint64_t n) const {
    const LowLatencyLayout& layout = context.layout;
    return reinterpret_cast<Header*>(context.set(n) + layout.headers +
                                     context.message(context.view().pe, t) * layout.header_bytes);
  }

  /// Sends an expert's rank the row of each token that names the expert, in the order of tokens, and their number.
  CAUSEWAY_DEVICE void assign_rows(Lanes lanes, int expert, uint64_t n) const {
    const int rank = context.map.rank_of(expert), own = context.map.local.remainder(expert), choices = tokens * topk;
    const bool masked = context.masked(rank);
    int32_t rows = 0;
    constexpr int kAtOnce = kInFlight > 1 ? 16 : 1;
    for (int base = 0; base < choices; base += kAtOnce * int(lanes.size())) {
      int64_t seen[kAtOnce];
      const auto at = [&](int j) { return base + j * int(lanes.size()) + int(lanes.rank()); };
      CAUSEWAY_UNROLL
      for (int j = 0; j < kAtOnce; ++j) seen[j] = at(j) < choices ? topk_idx[at(j)] : -1;
      CAUSEWAY_UNROLL
      for (int j = 0; j < kAtOnce; ++j) {
        const bool named = seen[j] == expert;
        const uint32_t all = ballot(lanes, named);
        if (named && !masked) assign_row(at(j), n, rank, {own, rows + bits_set(all & bits_below(lanes))});
        rows += bits_set(all);
      }
    }
    auto* counts = reinterpret_cast<int32_t*>(context.set(n) + context.layout.counts);
    counts += size_t(own) * size_t(context.limits.ranks) + size_t(context.view().pe);
    if (leads(lanes) && !masked) machine::store_peer(context.of_rank(counts, rank), rows);
  }

  /// (Not inlined, because few tokens name an expert and the loop around it is unrolled.)
  CAUSEWAY_DEVICE_LARGE void assign_row(int choice, uint64_t n, int rank, Header::Choice row) const {
    Header* header = header_of(of_token.quotient(choice), n);
    machine::store_peer(context.of_rank(header->choice + of_token.remainder(choice), rank), row);
  }

  /// Sends the rest of a token's headers: the operation, and the choices that are not for the rank. False: an index is
  /// no expert.
  CAUSEWAY_DEVICE bool send_header(Lanes lanes, int t, uint64_t n) const {
    const int64_t* choices = topk_idx + size_t(t) * size_t(topk);
    Header* header = header_of(t, n);
    targets_of(lanes, t).each([&](int r) {
      Header* there = context.of_rank(header, r);
      for (int k = int(lanes.rank()); k < topk; k += int(lanes.size()))
        if (context.map.rank_of(choices[k]) != r) machine::store_peer(there->choice + k, Header::Choice{-1, 0});
      if (leads(lanes)) machine::store_peer(&there->operation, n * Header::kChoices + uint64_t(topk));
    });
    bool good = true;
    for (int k = int(lanes.rank()); k < topk; k += int(lanes.size())) {
      good = choices[k] >= -1 && choices[k] < context.limits.experts && good;
      context.sent[size_t(t) * size_t(topk) + size_t(k)] = context.map.rank_of(choices[k]) < 0 ? -1 : choices[k];
    }
    return good;
  }

  CAUSEWAY_DEVICE Targets targets_of(Lanes lanes, int t) const {
    return {lanes, context, topk_idx + size_t(t) * size_t(topk), topk};
  }

  CAUSEWAY_DEVICE char* row_of(int t, uint64_t n) const {
    const LowLatencyLayout& layout = context.layout;
    return context.set(n) + layout.rows + context.message(context.view().pe, t) * layout.row_bytes;
  }

  // The ranks that a token goes to are looked up while the loads of its row are in flight.
  CAUSEWAY_DEVICE void send_part(Lanes lanes, int t, uint64_t n, Run blocks) const {
    const int begin = blocks.begin * kScaleBlock;
    const int end = blocks.end * kScaleBlock < hidden ? blocks.end * kScaleBlock : hidden;
    char* to = row_of(t, n) + size_t(begin) * 2;
    const auto* from = reinterpret_cast<const char*>(x + size_t(t) * size_t(hidden) + size_t(begin));
    fan_out(lanes, Towards::peer, from, size_t(end - begin) * 2,
            [&](auto store) { targets_of(lanes, t).each([&](int r) { store(context.of_rank(to, r)); }); });
  }

  /// Blocks of 128 elements, each divided by its own scale. The scales are stored behind the row.
  CAUSEWAY_DEVICE void cast_part(Lanes lanes, int t, uint64_t n, Run blocks) const {
    constexpr int kPacks = kScaleBlock / 8 / kLanesPerScale, kAtOnce = kInFlight > 1 ? 4 : 1;
    const int shares = int(lanes.size()) / kLanesPerScale, share = int(lanes.rank()) / kLanesPerScale;
    const int within = int(lanes.rank()) % kLanesPerScale * kPacks * 8;
    const __nv_bfloat16* row = x + size_t(t) * size_t(hidden);
    char* to = row_of(t, n);
    for (int first = blocks.begin; first < blocks.end; first += kAtOnce * shares) {
      // One stage after the other for all blocks, without branches between, so that their latencies overlap.
      const auto block_at = [&](int j) { return first + j * shares + share; };
      Eight held[kAtOnce][kPacks];
      CAUSEWAY_UNROLL
      for (int j = 0; j < kAtOnce; ++j)
        for (int p = 0; p < kPacks; ++p)
          held[j][p] = block_at(j) < blocks.end
                           ? *reinterpret_cast<const Eight*>(row + block_at(j) * kScaleBlock + within + p * 8)
                           : Eight{};
      const Targets targets = targets_of(lanes, t);
      float greatest[kAtOnce], scale[kAtOnce];
      uint64_t eights[kAtOnce][kPacks];
      CAUSEWAY_UNROLL
      for (int j = 0; j < kAtOnce; ++j) {
        greatest[j] = 1e-4f;
        for (int p = 0; p < kPacks; ++p)
          for (int i = 0; i < 8; ++i)
            greatest[j] = machine::greater_magnitude(greatest[j], static_cast<float>(held[j][p].value[i]));
      }
      max_of_scales(greatest);
      CAUSEWAY_UNROLL
      for (int j = 0; j < kAtOnce; ++j) {
        scale[j] = scaling == Scaling::plain ? greatest[j] / kE4m3Max : power_of_two_above(greatest[j] / kE4m3Max);
        const float factor = scaling == Scaling::plain ? kE4m3Max / greatest[j] : 1.0f / scale[j];
        for (int p = 0; p < kPacks; ++p) eights[j][p] = eight_e4m3(held[j][p], factor);
      }
      targets.each([&](int r) {
        char* there = context.of_rank(to, r);
        CAUSEWAY_UNROLL
        for (int j = 0; j < kAtOnce; ++j) {
          if (block_at(j) >= blocks.end) continue;
          for (int p = 0; p < kPacks; ++p)
            machine::store_peer(reinterpret_cast<uint64_t*>(there + block_at(j) * kScaleBlock + within + p * 8),
                                eights[j][p]);
          if (within == 0) machine::store_peer(reinterpret_cast<float*>(there + hidden) + block_at(j), scale[j]);
        }
      });
    }
  }
};

struct LowLatencyReceive {
  LowLatencyContext context;
  int hidden;
  Scaling scaling;
  char* x;  // null: the caller's arguments were bad, and nothing is kept
  char* scales;
  int32_t *recv_count, *source_token;
  int64_t* layout_range;
  int32_t* recv_total;
  int64_t* wait_ns;

  CAUSEWAY_DEVICE void operator()() const {
    const uint64_t n = *context.operation.number;
    const KernelGroup group{};
    const LowLatencyLayout& layout = context.layout;
    detail::wait_for_flags(context, group, kDispatch, n, wait_ns);
    if (machine::block_in_grid() == 0 && leads(group)) detail::report_bad(context, kDispatch, n, x == nullptr);
    if (x) find_first_rows(group, layout, n);
    const int messages = context.rows.value();
    const Parts parts(messages);
    for (int unit = worker(); x && unit < parts.units(messages); unit += workers()) receive(layout, n, parts, unit);
    detail::give_credits(context, group, kDispatch, n);
  }

 private:
  /// The block's table of first rows. Each set has one, because two receives may run at a time. The credits exclude a
  /// third.
  CAUSEWAY_DEVICE int32_t* first_rows(uint64_t n) const {
    const size_t block = n % 2 * machine::blocks_in_grid() + machine::block_in_grid();
    return context.first_rows + block * size_t(context.limits.experts);
  }

  /// Finds the first row of each source among those of each own expert. Rows are ordered by source rank. -1: nothing is
  /// taken from that source.
  CAUSEWAY_DEVICE void find_first_rows(KernelGroup group, const LowLatencyLayout& layout, uint64_t n) const {
    const int ranks = context.limits.ranks;
    const auto* counts = reinterpret_cast<const int32_t*>(context.set(n) + layout.counts);
    for (int pair = int(group.rank()); pair < context.limits.experts; pair += int(group.size())) {
      const int expert = context.ranks.quotient(pair), source = context.ranks.remainder(pair);
      int32_t before = 0, own = 0;
      bool there = false;
      constexpr int kAtOnce = kInFlight > 1 ? 4 : 1;
      for (int first = 0; first <= source; first += kAtOnce) {
        int32_t count[kAtOnce];
        bool came[kAtOnce];
        CAUSEWAY_UNROLL
        for (int j = 0; j < kAtOnce; ++j) {
          if (first + j > source) continue;
          count[j] = machine::load_peer(counts + expert * ranks + first + j);
          came[j] = detail::came(context, first + j);
        }
        CAUSEWAY_UNROLL
        for (int j = 0; j < kAtOnce; ++j) {
          if (first + j > source) continue;
          before += own;
          there = came[j];
          own = there ? count[j] : 0;
        }
      }
      first_rows(n)[pair] = there ? before : -1;
      if (machine::block_in_grid() != 0) continue;
      if (layout_range) layout_range[pair] = int64_t(before) << 32 | own;
      if (source != ranks - 1) continue;
      const int32_t room = ranks * context.limits.tokens, came = before + own < room ? before + own : room;
      if (before + own > room)
        report(context.world, context.faults, "low_latency_dispatch",
               "an expert gets {} rows and has room for {}: a token must name it once", before + own, room);
      recv_count[expert] = came;
      if (recv_total) recv_total[expert] += came;
    }
    group.sync();
  }

  /// The row of x for a choice of a message, or -1.
  CAUSEWAY_DEVICE int32_t row_of(int source, const Header* header, uint64_t n, int k) const {
    const uint64_t word = machine::load_peer(&header->operation);
    const auto choice = machine::load_peer(header->choice + k);
    if (word / Header::kChoices != n || k >= int(word % Header::kChoices) || choice.expert < 0) return -1;
    const int rows = context.rows.value();
    const int32_t begin = first_rows(n)[choice.expert * context.limits.ranks + source], within = begin + choice.row;
    return begin >= 0 && within < rows ? choice.expert * rows + within : -1;
  }

  CAUSEWAY_DEVICE void receive(const LowLatencyLayout& layout, uint64_t n, const Parts& parts, int unit) const {
    const Lanes lanes{};
    const int message = parts.row(unit), part = parts.part(unit);
    const int source = context.tokens.quotient(message), own = int(lanes.rank()), topk = context.limits.topk;
    const auto* header =
        reinterpret_cast<const Header*>(context.set(n) + layout.headers + size_t(message) * layout.header_bytes);
    const size_t bytes = size_t(hidden) * (scaling == Scaling::none ? 2 : 1);
    const Run packs = parts.of(int(bytes / 16), unit), blocks = parts.of(hidden / kScaleBlock, unit);
    const char* from = context.set(n) + layout.rows + size_t(message) * layout.row_bytes;
    const auto scale_at = [&](int b) {
      return b < blocks.end ? machine::load_peer(reinterpret_cast<const float*>(from + hidden) + b) : 0.0f;
    };
    // Destinations are looked up while the loads of the row are in flight. A lane looks up one choice (on the CPU
    // machine one after the other).
    const float first_scale = scaling == Scaling::none ? 0.0f : scale_at(blocks.begin + own);
    Destination mine{};
    uint32_t chosen = 0;
    bool looked_up = false;
    const auto destination = [&](int k) -> Destination {
      if (kLanesPerScale == 1) return destination_of(row_of(source, header, n, k), bytes);
      return {from_lane(lanes, mine.row, unsigned(k)), from_lane(lanes, mine.scale, unsigned(k))};
    };
    const auto look_up = [&] {
      if (looked_up) return;
      looked_up = true;
      for (int k = own; k < topk; k += int(lanes.size())) {
        const int32_t at = row_of(source, header, n, k);
        if (part == 0) context.row_of_choice[size_t(message) * size_t(topk) + size_t(k)] = at;
        if (part == 0 && at >= 0 && source_token) source_token[at] = context.tokens.remainder(message);
        if (at >= 0) chosen |= 1u << k;
        if (kLanesPerScale > 1) mine = destination_of(at, bytes);
      }
      chosen = any_bits(lanes, chosen);
    };
    const size_t skip = size_t(packs.begin) * 16;
    fan_out(lanes, Towards::self, from + skip, size_t(packs.end - packs.begin) * 16, [&](auto store) {
      look_up();
      for (uint32_t left = chosen; left != 0;) store(destination(take_lowest(left)).row + skip);
    });
    look_up();
    if (scaling == Scaling::none || chosen == 0) return;
    for (int base = blocks.begin; base < blocks.end; base += int(lanes.size())) {
      const int b = base + own;
      const float scale = base == blocks.begin ? first_scale : scale_at(b);
      for (uint32_t left = chosen; left != 0;) {
        char* column = destination(take_lowest(left)).scale;
        if (b < blocks.end) store_scale(column, b, scale);
      }
    }
  }

  /// Where a row and its scales are stored. The scales of a row are a column of the expert's matrix.
  struct Destination {
    char *row, *scale;
  };
  CAUSEWAY_DEVICE Destination destination_of(int32_t at, size_t bytes) const {
    if (at < 0) return {nullptr, nullptr};
    const size_t expert = size_t(context.rows.quotient(at)), row = size_t(context.rows.remainder(at));
    const size_t height =
        size_t(hidden / kScaleBlock) / (scaling == Scaling::exponent ? 4 : 1);  // of four-byte elements
    return {x + size_t(at) * bytes, scales + (expert * height * size_t(context.rows.value()) + row) * 4};
  }
  CAUSEWAY_DEVICE void store_scale(char* column, int b, float scale) const {
    const size_t line = size_t(context.rows.value()) * 4;
    if (scaling == Scaling::exponent)  // four in a word, and each word is one element of the matrix
      reinterpret_cast<uint8_t*>(column)[size_t(b / 4) * line + size_t(b % 4)] = exponent_of(scale);
    else
      *reinterpret_cast<float*>(column + size_t(b) * line) = scale;
  }
};

}  // namespace causeway::moe
