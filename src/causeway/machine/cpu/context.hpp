// Which PE the running code belongs to. One PE a process: a process-wide context. PEs as threads: each fiber and each
// host thread carries its own.
#pragma once
#include <cstddef>
#include <memory>

namespace causeway::cpu {

class Device;

struct PeContext {
  int pe = 0;
  std::shared_ptr<void> state;     // the runtime's PeState
  std::unique_ptr<Device> device;  // made at first use
  int devices = 0;                 // what cudaGetDeviceCount answers; 0: not set
  int selected_device = 0;
};

/// What the user set for the machine; 0: its own choice. Defined above, where settings are read.
struct MachineOptions {
  unsigned workers = 0;
  size_t stack_bytes = 0;
  unsigned multiprocessors = 0;
};
MachineOptions machine_options();

/// The context of the running host thread or GPU thread.
PeContext& pe_context();
/// Where this OS thread keeps its context; null there means the process's.
PeContext** pe_slot();
/// This context's device; made at first use.
Device& device();

/// Makes `context` the running host thread's own (threads of PEs only).
class ScopedPe {
 public:
  explicit ScopedPe(PeContext* context);
  ~ScopedPe();
  ScopedPe(const ScopedPe&) = delete;
  ScopedPe& operator=(const ScopedPe&) = delete;

 private:
  PeContext* before_;
};

}  // namespace causeway::cpu
