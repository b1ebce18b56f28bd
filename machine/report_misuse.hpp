// How device code, or a host thread that runs it, says that it was called wrongly.
#pragma once
#include <causeway/machine/report_wait.hpp>

#include <cstdint>

namespace causeway {

/// Says what is wrong with a call of `name` and leaves a record for the host; value and limit belong to the text.
CAUSEWAY_DEVICE_OUT_OF_LINE void misuse(const DeviceWorld& world, const char* name, const char* problem,
                                        long long value, long long limit) {
  machine::note_misuse(name, problem, value, limit);
  // A host thread has just been told; what kernels do wrong the host finds in the record.
  if (!machine::on_host())
    record_fault(world, name, problem, -1, nullptr, static_cast<uint64_t>(limit), static_cast<uint64_t>(value));
}

}  // namespace causeway
