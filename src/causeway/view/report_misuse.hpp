// How device code, or a host thread that runs it, says that it was called wrongly.
#pragma once
#include <causeway/view/report_wait.hpp>
#include <causeway/machine/text.hpp>

#include <cstdint>

namespace causeway {

/// Says what is wrong with a call of `name` and leaves a record for the host: "argument problem", where the problem
/// says the value and what is accepted, with the numbers where it has "{}" (or "{x}": an address): "pe", " is {}: must
/// be 0 to {}".
CAUSEWAY_DEVICE_OUT_OF_LINE void misuse(const DeviceWorld& world, const char* name, const char* argument,
                                        const char* problem, long long first = 0, long long second = 0,
                                        long long third = 0, long long fourth = 0) {
  Text<int(sizeof(FaultRecord::problem))> text;
  text.add(argument);
  text.fill(problem, first, second, third, fourth);
  machine::note_misuse(name, text.get());
  // A host thread has just been told; what kernels do wrong the host finds in the record.
  if (!machine::on_host()) record_fault(world, name, text.get(), -1, nullptr, 0, 0);
}

}  // namespace causeway
