// What a wait that does not end says (see spin.hpp). printf works on both machines.
#pragma once
#include <causeway/view/heap_view.hpp>
#include <causeway/view/gone.hpp>
#include <causeway/machine/wait_info.hpp>
#include <causeway/base/wait_policy.hpp>

#include <cstdint>
#include <cstdio>

namespace causeway {

/// Leaves a fault where the host finds it, if the host has read the last one.
CAUSEWAY_DEVICE_OUT_OF_LINE void record_fault(const DeviceWorld& world, const char* operation, const char* problem,
                                              int peer, const void* address, uint64_t expected, uint64_t seen) {
  FaultRecord* record = world.faults;
  if (!record) return;
  const uint32_t read = machine::load_relaxed_sys(&record->read);
  if (machine::atomic_compare_exchange_sys(record->claims, read, read + 1) != read) return;
  record->pe = world.pe;
  record->peer = peer;
  record->heap_offset = heap_offset(world, address);
  record->expected = expected;
  record->seen = seen;
  const auto keep = [](char* to, const char* text, int room) {
    int i = 0;
    for (; i + 1 < room && text[i]; ++i) to[i] = text[i];
    to[i] = 0;  // a longer one may have been there
  };
  keep(record->operation, operation, int(sizeof record->operation));
  keep(record->problem, problem, int(sizeof record->problem));
  machine::store_release_sys(&record->written, read + 1);
}

/// What is known of PEs that have gone, for this wait.
CAUSEWAY_DEVICE WaitLoss loss_of(const DeviceWorld& world, const WaitInfo& info) {
  if (info.peer < 0) return any_lost(world) ? WaitLoss::somebody : WaitLoss::none;
  return gone(world, info.peer) != 0 && !info.outlives_peer ? WaitLoss::peer : WaitLoss::none;
}

CAUSEWAY_DEVICE_OUT_OF_LINE void report_wait(const DeviceWorld& world, const WaitInfo& info, uint64_t seen, bool ends) {
  const bool lost = ends && loss_of(world, info) != WaitLoss::none;
  int whom = info.peer;  // it ends because this PE has gone; -1: the hub, without which nobody hears of losses
  for (int pe = 0; lost && whom < 0 && pe < world.pes; ++pe)
    if (gone(world, pe) == kPeLost) whom = pe;
  constexpr uint32_t kPrintedMax = 16;  // every thread of a kernel may wait, and again for ever
  if (!lost || machine::atomic_add_sys(world.faults->claims + 1, 1u) < kPrintedMax) {
    CAUSEWAY_DEVICE_PRINT("causeway: PE %d of %d: %s %s %s %llu at heap offset 0x%llx (peer %d): seen %llu\n", world.pe,
                          world.pes, ends ? "gave up waiting in" : "waits in", info.operation, info.comparison,
                          static_cast<unsigned long long>(info.expected),
                          static_cast<unsigned long long>(heap_offset(world, info.address)), info.peer,
                          static_cast<unsigned long long>(seen));
    if (lost && whom >= 0)
      CAUSEWAY_DEVICE_PRINT("causeway: PE %d of %d: PE %d has %s\n", world.pe, world.pes, whom,
                            gone(world, whom) == kPeLost ? "ended" : "left the job");
    if (lost && whom < 0)
      CAUSEWAY_DEVICE_PRINT("causeway: PE %d of %d: the process that served the job's hub has ended\n", world.pe,
                            world.pes);
  }
  if (!ends) return;
  const char* const problem = lost ? "waited for what can no longer come" : "wait past its limit";
  record_fault(world, info.operation, problem, info.peer, info.address, info.expected, seen);
}

CAUSEWAY_DEVICE_OUT_OF_LINE bool report_when_due(const DeviceWorld& world, const WaitInfo& info, uint64_t seen,
                                                 WaitWatch& watch) {
  const WaitLimits limits{world.wait_report_ns, world.wait_timeout_ns, kLossPatienceNs};
  const WaitStep step = watch.look(machine::now_ns(), loss_of(world, info), limits);
  if (step == WaitStep::report) report_wait(world, info, seen, false);
  return step == WaitStep::give_up;
}

}  // namespace causeway
