// What the process knows about pointers: every allocation and registration of the runtime, by address.
#pragma once
#include <causeway/emulator/runtime/shared_segments.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>

namespace causeway::emulator {

enum class MemoryKind {
  device,      // cudaMalloc
  managed,     // cudaMallocManaged
  host,        // cudaMallocHost
  registered,  // cudaHostRegister: the program's own
  imported,    // cudaIpcOpenMemHandle: another process's device memory
  noted        // device memory that another part of the library owns, as the symmetric heap
};

struct Allocation {
  char* base = nullptr;
  size_t bytes = 0;
  MemoryKind kind = MemoryKind::device;
  int device = 0;
  unsigned flags = 0;           // of the call that made it
  SharedSegments::Piece piece;  // device memory that can be exported; else empty
  void* mapping = nullptr;      // imported: what to unmap
  size_t mapping_bytes = 0;
};

class Allocations {
 public:
  /// New memory of `kind`. Throws std::bad_alloc if it exceeds the machine's memory.
  char* allocate(size_t bytes, MemoryKind kind, int device, unsigned flags);
  /// Frees what allocate gave; false if `pointer` is no such allocation's start or of another kind.
  bool release(void* pointer, bool (*is_kind)(MemoryKind));

  /// Records memory that is not ours; false if it overlaps memory that is known.
  bool add(const Allocation& foreign);
  /// Forgets memory that `add` recorded; gives its record.
  std::optional<Allocation> remove(void* pointer, MemoryKind kind);

  /// The allocation that contains this address.
  std::optional<Allocation> find(const void* pointer) const;
  /// True unless the range begins in known memory and leaves it.
  [[nodiscard]] bool fits(const void* pointer, size_t bytes) const;

  /// Bytes allocated, and the machine's memory.
  [[nodiscard]] size_t used() const;
  static size_t total();

 private:
  using Map = std::map<uintptr_t, Allocation>;
  Map::const_iterator containing(uintptr_t address) const;

  mutable std::mutex mutex_;
  Map known_;
  SharedSegments segments_;
  size_t used_ = 0;
};

/// The process's allocations; PEs that are threads share them, as they share the address space.
Allocations& allocations();

/// Tells the runtime of device memory that it did not allocate, so that copies and pointer queries know it.
__attribute__((visibility("default"))) void note_device_memory(void* base, size_t bytes, int device);
__attribute__((visibility("default"))) void forget_device_memory(void* base);

}  // namespace causeway::emulator
