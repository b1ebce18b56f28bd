// The CPU machine's PE state hangs on the context that threads and fibers of a PE carry.
#include <causeway/machine/cpu/context.hpp>
#include <causeway/machine/cpu/vocabulary.hpp>
#include <causeway/runtime/pe_state.hpp>
#include <causeway/view/unit.hpp>
#include <causeway/runtime/world.hpp>
#include <fmt/format.h>

namespace causeway {

PeState& pe_state() {
  static std::mutex& making = *new std::mutex;
  cpu::PeContext& context = cpu::pe_context();
  std::lock_guard lock(making);
  if (!context.state) {
    // The process's own state outlives static destruction: units unregister in destructors.
    context.state = std::shared_ptr<void>(new PeState, [](void*) {});
  }
  return *static_cast<PeState*>(context.state.get());
}

cpu::MachineOptions cpu::machine_options() {
  const Settings settings = inspect_settings(process_environment());  // init reports what is malformed
  return {unsigned(settings.cpu_workers), size_t(settings.cpu_stack_bytes), unsigned(settings.cpu_multiprocessors)};
}

const DeviceWorld& unit::world() {
  static const DeviceWorld unfilled;
  const World* world = world_or_null();
  if (!world) say_failed_init();
  return world ? world->device_world() : unfilled;
}

void machine::note_misuse(const char* call, const char* problem) {
  const std::string& failure = pe_state().init_failure;
  if (!world_or_null() && !failure.empty())
    return note_error(fmt::format("{}: nvshmem_init failed: {}; the call does nothing", call, failure));
  note_error(fmt::format("{}: {}; the call does nothing", call, problem));
}

}  // namespace causeway
