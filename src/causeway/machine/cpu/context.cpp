#include <causeway/machine/cpu/context.hpp>
#include <causeway/machine/cpu/device.hpp>

#include <mutex>
#include <utility>

namespace causeway::cpu {
namespace {

__thread PeContext* own_context = nullptr;

PeContext& process_context() {
  // Never destroyed: detached workers and user destructors may still ask for it while the process ends.
  static PeContext& context = *new PeContext;
  return context;
}

}  // namespace

PeContext** pe_slot() { return &own_context; }

PeContext& pe_context() { return own_context ? *own_context : process_context(); }

Device& device() {
  static std::mutex& making = *new std::mutex;
  PeContext& context = pe_context();
  std::lock_guard lock(making);
  if (!context.device) context.device = std::make_unique<Device>();
  return *context.device;
}

ScopedPe::ScopedPe(PeContext* context) : before_(std::exchange(own_context, context)) {}
ScopedPe::~ScopedPe() { own_context = before_; }

}  // namespace causeway::cpu
