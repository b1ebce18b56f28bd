#include <causeway/emulator/runtime/allocations.hpp>
#include <unistd.h>

#include <algorithm>

#include <cstdlib>
#include <new>

// Defined if a sanitizer is linked into the program, whether or not this library was compiled for it.
extern "C" __attribute__((weak)) void __asan_init();
extern "C" __attribute__((weak)) void __tsan_init();

namespace causeway::emulator {
namespace {

constexpr size_t kAlignment = 512;

/// Under a sanitizer all memory comes from its allocator: it then knows bounds, lifetime and the allocating call.
bool sanitized() { return &__asan_init != nullptr || &__tsan_init != nullptr; }

/// Only device memory is ever exported to another process.
bool exportable(MemoryKind kind) { return kind == MemoryKind::device && !sanitized(); }

char* plain_memory(size_t bytes) {
  // Exactly `bytes`: a sanitizer's redzone then begins where the program's memory ends.
  void* memory = nullptr;
  if (posix_memalign(&memory, kAlignment, bytes) != 0) throw std::bad_alloc();
  return static_cast<char*>(memory);
}

}  // namespace

Allocations& allocations() {
  static Allocations& all = *new Allocations;  // never destroyed: destructors of the program may free at its end
  return all;
}

size_t Allocations::total() { return size_t(sysconf(_SC_PHYS_PAGES)) * size_t(sysconf(_SC_PAGESIZE)); }

char* Allocations::allocate(size_t bytes, MemoryKind kind, int device, unsigned flags) {
  std::lock_guard lock(mutex_);
  // Pages appear when they are touched, so the system itself would promise more than it has.
  if (bytes > total() - std::min(used_, total())) throw std::bad_alloc();
  Allocation made;
  made.bytes = bytes;
  made.kind = kind;
  made.device = device;
  made.flags = flags;
  if (exportable(kind)) {
    made.piece = segments_.take(bytes);
    made.base = made.piece.address;
  } else {
    made.base = plain_memory(bytes);
  }
  known_[reinterpret_cast<uintptr_t>(made.base)] = made;
  used_ += bytes;
  return made.base;
}

bool Allocations::release(void* pointer, bool (*is_kind)(MemoryKind)) {
  std::lock_guard lock(mutex_);
  const auto found = known_.find(reinterpret_cast<uintptr_t>(pointer));
  if (found == known_.end() || !is_kind(found->second.kind)) return false;
  const Allocation& memory = found->second;
  if (memory.piece.address) {
    segments_.give(memory.piece, memory.bytes);
  } else {
    std::free(memory.base);
  }
  used_ -= memory.bytes;
  known_.erase(found);
  return true;
}

bool Allocations::add(const Allocation& foreign) {
  std::lock_guard lock(mutex_);
  const auto begin = reinterpret_cast<uintptr_t>(foreign.base);
  const auto next = known_.lower_bound(begin);
  if (next != known_.end() && next->first < begin + foreign.bytes) return false;
  if (containing(begin) != known_.end()) return false;
  known_.emplace(begin, foreign);
  return true;
}

std::optional<Allocation> Allocations::remove(void* pointer, MemoryKind kind) {
  std::lock_guard lock(mutex_);
  const auto found = known_.find(reinterpret_cast<uintptr_t>(pointer));
  if (found == known_.end() || found->second.kind != kind) return std::nullopt;
  const Allocation record = found->second;
  known_.erase(found);
  return record;
}

Allocations::Map::const_iterator Allocations::containing(uintptr_t address) const {
  auto after = known_.upper_bound(address);
  if (after == known_.begin()) return known_.end();
  const auto candidate = std::prev(after);
  return address - candidate->first < candidate->second.bytes ? candidate : known_.end();
}

std::optional<Allocation> Allocations::find(const void* pointer) const {
  std::lock_guard lock(mutex_);
  const auto found = containing(reinterpret_cast<uintptr_t>(pointer));
  return found == known_.end() ? std::nullopt : std::optional(found->second);
}

bool Allocations::fits(const void* pointer, size_t bytes) const {
  std::lock_guard lock(mutex_);
  const auto address = reinterpret_cast<uintptr_t>(pointer);
  const auto found = containing(address);
  if (found == known_.end() || found->second.kind == MemoryKind::noted)
    return true;  // (a heap goes on in its next segment)
  return bytes <= found->second.bytes - (address - found->first);
}

size_t Allocations::used() const {
  std::lock_guard lock(mutex_);
  return used_;
}

void note_device_memory(void* base, size_t bytes, int device) {
  Allocation memory;
  memory.base = static_cast<char*>(base);
  memory.bytes = bytes;
  memory.kind = MemoryKind::noted;
  memory.device = device;
  allocations().add(memory);
}

void forget_device_memory(void* base) { allocations().remove(base, MemoryKind::noted); }

}  // namespace causeway::emulator
