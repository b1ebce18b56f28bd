// On CUDA a process is a PE: one state, found from every thread.
#include <causeway/runtime/pe_state.hpp>
#include <causeway/runtime/world.hpp>

namespace causeway {

PeState& pe_state() {
  // Never destroyed: units unregister in destructors, in whatever order programs end.
  static PeState& state = *new PeState;
  return state;
}

}  // namespace causeway
