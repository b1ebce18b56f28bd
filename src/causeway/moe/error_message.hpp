// The error message that a rank with bad arguments sends to the others in low-latency mode, before its flag. Every
// block that finds the error writes the same text. So each rank needs only one slot, and no text is torn.
#pragma once
#include <causeway/base/numbers.hpp>
#include <causeway/machine/text.hpp>
#include <causeway/moe/route.hpp>

namespace causeway::moe {

struct ErrorMessage {
  static constexpr int kRoom = 152;
  uint64_t operation = 0;
  Text<kRoom> text;
};
constexpr size_t kErrorMessageBytes = rounded_up(sizeof(ErrorMessage), 16);
static_assert(sizeof(ErrorMessage) % sizeof(uint64_t) == 0, "it is sent by words");

/// Stores an error message in its slot at another rank.
CAUSEWAY_DEVICE_OUT_OF_LINE void send(const ErrorMessage& error, ErrorMessage* there) {
  uint64_t words[sizeof(ErrorMessage) / sizeof(uint64_t)];
  __builtin_memcpy(words, &error, sizeof error);
  for (size_t i = 0; i < sizeof words / sizeof *words; ++i)
    machine::store_peer(reinterpret_cast<uint64_t*>(there) + i, words[i]);
}

/// Describes the first choice of a dispatch that is no expert.
CAUSEWAY_DEVICE_OUT_OF_LINE void describe_no_expert(Text<ErrorMessage::kRoom>& text, const int64_t* topk_idx,
                                                    int tokens, int topk, int experts) {
  for (int i = 0; i < tokens * topk; ++i)
    if (topk_idx[i] < -1 || topk_idx[i] >= experts)
      return text.fill("topk_idx[{}, {}] is {}: must be -1 (none) or 0 to {}", i / topk, i % topk, topk_idx[i],
                       experts - 1);
}

/// Describes the first choice of a combine that differs from its dispatch's. sent: -1 for what was no expert.
CAUSEWAY_DEVICE_OUT_OF_LINE void describe_another_expert(Text<ErrorMessage::kRoom>& text, const int64_t* topk_idx,
                                                         const int64_t* sent, int tokens, int topk, int experts) {
  for (int i = 0; i < tokens * topk; ++i) {
    const bool none = topk_idx[i] < 0 || topk_idx[i] >= experts;
    if (sent[i] < 0 ? none : topk_idx[i] == sent[i] || topk_idx[i] == -1) continue;
    if (sent[i] < 0)
      return text.fill("topk_idx[{}, {}] is {}: must be -1 (none), as in the dispatch", i / topk, i % topk,
                       topk_idx[i]);
    return text.fill("topk_idx[{}, {}] is {}: must be {}, as in the dispatch, or -1 (none)", i / topk, i % topk,
                     topk_idx[i], sent[i]);
  }
}

}  // namespace causeway::moe
