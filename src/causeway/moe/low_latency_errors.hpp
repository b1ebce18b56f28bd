// How a rank with bad arguments informs the other ranks in low-latency mode, and how these inform their hosts
// (error_message.hpp).
#pragma once
#include <causeway/moe/low_latency.hpp>

namespace causeway::moe::detail {

/// Sends an error message to all ranks. One thread calls it, before the block's flag.
CAUSEWAY_DEVICE_OUT_OF_LINE void send_to_all(const LowLatencyContext& context, Kind kind, const ErrorMessage& error) {
  ErrorMessage* own = context.error_message(kind, error.operation, context.view().pe);
  for (int r = 0; r < context.limits.ranks; ++r)
    if (!context.masked(r)) send(error, context.of_rank(own, r));
}

/// A rank's error message, or null if none has arrived. It arrives before the flags of the blocks that report it.
CAUSEWAY_DEVICE const char* error_text(const LowLatencyContext& context, Kind kind, uint64_t n, int rank) {
  const ErrorMessage* error = context.error_message(kind, n, rank);
  const uint64_t* flags = context.flags(kind, n) + size_t(rank) * size_t(context.limits.blocks);
  bool reported = false;
  for (int i = 0; i < context.limits.blocks; ++i)
    reported = machine::load_acquire_sys(flags + i) == 2 * n + 1 || reported;
  return reported && machine::load_peer(&error->operation) == n ? error->text.get() : nullptr;
}

/// Leaves a record of the first rank whose arguments were bad. Not where the caller's own were (`told`): its host has
/// thrown already. One thread calls it.
CAUSEWAY_DEVICE_OUT_OF_LINE void report_bad(const LowLatencyContext& context, Kind kind, uint64_t n, bool told) {
  for (int r = 0; !told && r < context.limits.ranks; ++r) {
    if (machine::load_relaxed_sys(context.operation.outcome + r) != kBad) continue;
    const char* what = error_text(context, kind, n, r);
    Text<int(sizeof(FaultRecord::problem))> text;
    text.fill("rank {}: ", r);
    text.add(what ? what : "bad arguments");
    return report(context.world, context.faults, kind == kDispatch ? "low_latency_dispatch" : "low_latency_combine",
                  text.get());
  }
}

}  // namespace causeway::moe::detail
