// What all machines share of pe_state.hpp.
#include <causeway/base/error.hpp>
#include <causeway/host/machine_host.hpp>
#include <causeway/runtime/pe_state.hpp>
#include <causeway/runtime/world.hpp>

#include <pthread.h>

#include <atomic>
#include <cstdio>
#include <utility>

namespace causeway {

void note_error(const std::string& text) {
  // A program that polls with a bad argument would print for ever; any thread may come here.
  constexpr int kPrintedMax = 200;
  PeState& state = pe_state();
  std::lock_guard lock(state.error_mutex);
  ++state.errors[std::this_thread::get_id()];
  if (state.last_error == text) return;
  state.last_error = text;
  if (state.errors_printed++ >= kPrintedMax) return;
  if (state.errors_printed == kPrintedMax) {
    std::fprintf(stderr, "causeway: %d errors printed; further ones are only kept for causeway_last_error()\n",
                 kPrintedMax);
  } else if (state.world && !in_forked_child()) {
    std::fprintf(stderr, "causeway: PE %d: %s\n", state.world->pe(), text.c_str());
  } else {
    std::fprintf(stderr, "causeway: %s\n", text.c_str());
  }
}

namespace {
std::atomic<bool> forked = false;
constexpr const char* kForked =
    "this process is a forked child of a PE, and no PE itself: only another program that it executes can start one";
}  // namespace

bool in_forked_child() { return forked.load(std::memory_order_relaxed); }

void watch_forks() {
  // (With PEs as threads the first one's; a fork of such a job is beyond help.)
  static const PeState& first = pe_state();
  static const int registered = ::pthread_atfork(nullptr, nullptr, [] {
    forked = true;
    for (const UnitRegistration* unit : first.units) machine_host::empty_in_forked_child(*unit);
  });
  (void)registered;
}

void say_failed_init() {
  PeState& state = pe_state();
  if (state.init_failure.empty() || std::exchange(state.init_failure_said, true)) return;
  note_error(fmt::format("there is no job, because nvshmem_init failed: {}", state.init_failure));
}

World* world_or_null() { return in_forked_child() ? nullptr : pe_state().world.get(); }

World& world_of(const char*) {
  World* world = world_or_null();
  if (!world && !pe_state().init_failure.empty())
    fail(Status::invalid_value, "nvshmem_init failed: {}", pe_state().init_failure);
  if (in_forked_child()) fail(Status::invalid_value, "{}", kForked);
  if (!world) fail(Status::invalid_value, "called before nvshmem_init or after nvshmem_finalize");
  return *world;
}

}  // namespace causeway
