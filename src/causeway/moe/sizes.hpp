// The layout of a hop's symmetric memory in a mixture-of-experts buffer: computed once, for host and device.
#pragma once
#include <causeway/base/numbers.hpp>
#include <causeway/machine/machine.hpp>
#include <causeway/view/device_world.hpp>

#include <cstddef>
#include <cstdint>

namespace causeway::moe {

constexpr int kScaleBlock = 128;  // elements that share a scale, when tokens travel as FP8

/// Where a received row comes from.
struct Origin {
  int32_t rank, token;
};

/// What a buffer is made for. All ranks give the same. moe.hpp has the meaning.
struct Limits {
  int ranks = 0, hidden = 0, topk = 0, experts = 0;
  int recv_tokens = 0;  // a rank receives in one dispatch, in high-throughput mode
};

CAUSEWAY_HOST_DEVICE constexpr size_t aligned(size_t bytes) { return rounded_up(bytes, 128); }

/// Offsets of the symmetric region of one hop.
struct HopLayout {
  size_t counts;        // by source rank: a row of counts (see counts_row)
  size_t verdicts;      // by rank: its verdict on an operation without counts (int32)
  size_t inbox;         // by rank: a line for its epochs, when the hop's ranks meet
  size_t epoch;         // meetings so far (uint64)
  size_t x;             // by received token: hidden elements of at most 2 bytes
  size_t scales;        // by received token: hidden / 128 floats
  size_t topk;          // by received token: topk expert numbers of the receiving rank, -1 for others (int64)
  size_t weights;       // by received token: topk floats
  size_t origin;        // by received token: where it comes from
  size_t back;          // by received token: what combine takes from here, hidden elements of 2 bytes
  size_t back_weights;  // by received token: topk floats
  size_t bytes;
};

/// A row: tokens for each rank, tokens for each expert of the receiver, the signature, and the sender's verdict.
CAUSEWAY_HOST_DEVICE constexpr size_t counts_row(const Limits& limits) {
  return size_t(limits.ranks) + size_t(limits.experts / limits.ranks) + 2;
}

CAUSEWAY_HOST_DEVICE constexpr HopLayout hop_layout(const Limits& limits) {
  const size_t tokens = size_t(limits.recv_tokens), hidden = size_t(limits.hidden), topk = size_t(limits.topk);
  HopLayout layout{};
  layout.counts = 0;
  layout.verdicts = layout.counts + aligned(size_t(limits.ranks) * counts_row(limits) * sizeof(int32_t));
  layout.inbox = layout.verdicts + aligned(size_t(limits.ranks) * sizeof(int32_t));
  layout.epoch = layout.inbox + size_t(limits.ranks) * kInboxLineWords * sizeof(uint64_t);
  layout.x = layout.epoch + aligned(sizeof(uint64_t));
  layout.scales = layout.x + aligned(tokens * hidden * 2);
  layout.topk = layout.scales + aligned(tokens * (hidden / kScaleBlock) * sizeof(float));
  layout.weights = layout.topk + aligned(tokens * topk * sizeof(int64_t));
  layout.origin = layout.weights + aligned(tokens * topk * sizeof(float));
  layout.back = layout.origin + aligned(tokens * sizeof(Origin));
  layout.back_weights = layout.back + aligned(tokens * hidden * 2);
  layout.bytes = layout.back_weights + aligned(tokens * topk * sizeof(float));
  return layout;
}

/// The elements [begin, end) of a sequence.
struct Run {
  int begin, end;
};

}  // namespace causeway::moe
