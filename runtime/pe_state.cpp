// What all machines share of pe_state.hpp.
#include <causeway/base/error.hpp>
#include <causeway/runtime/pe_state.hpp>
#include <causeway/runtime/world.hpp>

#include <cstdio>

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
  } else if (state.world) {
    std::fprintf(stderr, "causeway: PE %d: %s\n", state.world->pe(), text.c_str());
  } else {
    std::fprintf(stderr, "causeway: %s\n", text.c_str());
  }
}

World* world_or_null() { return pe_state().world.get(); }

World& world_of(const char*) {
  World* world = world_or_null();
  if (!world && !pe_state().init_failure.empty())
    fail(Status::invalid_value, "nvshmem_init failed before: {}", pe_state().init_failure);
  if (!world) fail(Status::invalid_value, "called before nvshmem_init or after nvshmem_finalize");
  return *world;
}

}  // namespace causeway
