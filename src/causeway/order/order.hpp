// fence and quiet (OpenSHMEM 1.5, section 9.10).
#pragma once
#include <causeway/view/heap_view.hpp>

namespace causeway {

/// Orders the caller's earlier stores to each PE before its later ones.
CAUSEWAY_DEVICE void fence(const DeviceWorld&) { machine::fence_acq_rel_sys(); }

/// Completes the caller's earlier stores: they are visible to every PE. Sequentially consistent, since quiet must also
/// keep a later load from passing an earlier store (store buffering).
CAUSEWAY_DEVICE void quiet(const DeviceWorld&) { machine::fence_sc_sys(); }

}  // namespace causeway
