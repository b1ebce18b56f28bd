// Symmetric memory: the C edge of the heap.
#include <causeway/base/export.hpp>
#include <causeway/api/edge.hpp>
#include <causeway/host/machine_host.hpp>
#include <causeway/runtime/internal.hpp>
#include <causeway/runtime/pe_state.hpp>
#include <causeway/runtime/world.hpp>
#include <dlfcn.h>

#include <string>

namespace causeway {
namespace {

/// Where a call came from, in words: "prog (main+0x52)".
std::string call_site(const void* address) {
  Dl_info info{};
  if (!address || dladdr(address, &info) == 0 || !info.dli_fname) return fmt::format("{}", address);
  std::string file = info.dli_fname;
  file = file.substr(file.rfind('/') + 1);
  const auto at = reinterpret_cast<uintptr_t>(address);
  if (info.dli_sname)
    return fmt::format("{} ({}+{:#x})", file, info.dli_sname, at - reinterpret_cast<uintptr_t>(info.dli_saddr));
  return fmt::format("{}+{:#x}", file, at - reinterpret_cast<uintptr_t>(info.dli_fbase));
}

/// Who has bad arguments (`problem`) takes part all the same, so that the others get an error instead of waiting.
void* allocate(const char* call, size_t bytes, size_t alignment, bool zeroed, const void* caller,
               const std::string& problem = {}) {
  void* block = nullptr;
  guard(call, [&] { block = host::allocate_symmetric(call, bytes, alignment, zeroed, call_site(caller), problem); });
  return block;
}

}  // namespace
}  // namespace causeway

using namespace causeway;

CAUSEWAY_EXPORT void* nvshmem_malloc(size_t size) {
  return allocate("nvshmem_malloc", size, 1, false, __builtin_return_address(0));
}

CAUSEWAY_EXPORT void* nvshmem_calloc(size_t count, size_t size) {
  size_t bytes = 0;
  std::string problem;
  if (__builtin_mul_overflow(count, size, &bytes))
    problem = fmt::format("count is {} and size {}: their product must fit in a size_t", count, size);
  return allocate("nvshmem_calloc", bytes, 1, true, __builtin_return_address(0), problem);
}

CAUSEWAY_EXPORT void* nvshmem_align(size_t alignment, size_t size) {
  return allocate("nvshmem_align", size, alignment, false, __builtin_return_address(0));
}

CAUSEWAY_EXPORT void nvshmem_free(void* ptr) {
  const void* caller = __builtin_return_address(0);
  guard("nvshmem_free", [&] { host::free_symmetric("nvshmem_free", ptr, call_site(caller)); });
}

CAUSEWAY_EXPORT void* nvshmem_realloc(void* ptr, size_t size) {
  const void* caller = __builtin_return_address(0);
  if (!ptr) return allocate("nvshmem_realloc", size, 1, false, caller);
  void* moved = nullptr;
  guard("nvshmem_realloc", [&] {
    World& world = world_of("nvshmem_realloc");
    world.require_bound("nvshmem_realloc");
    machine_host::synchronize_device();
    if (size == 0) return world.free(ptr, call_site(caller));
    moved = world.heap().reallocate(ptr, size, call_site(caller), machine_host::copy);
    world.heap_grew();
    world.bootstrap().barrier("nvshmem_realloc");  // no peer writes to a block that is still being filled
  });
  return moved;
}

CAUSEWAY_EXPORT int causeway_heap_info(size_t* mapped, size_t* used, size_t* largest) {
  return guard("causeway_heap_info", [&] {
    World& world = world_of("causeway_heap_info");
    world.require_bound("causeway_heap_info");
    if (mapped) *mapped = world.heap().bytes();
    if (used) *used = world.heap().allocator().bytes_used();
    if (largest) *largest = world.heap().allocator().largest_free();
  });
}

// ---------------------------------------------------------------- the program's own memory

CAUSEWAY_EXPORT int nvshmemx_buffer_register(void* addr, size_t length) {
  return guard("nvshmemx_buffer_register", [&] { world_of("nvshmemx_buffer_register").register_local(addr, length); });
}
CAUSEWAY_EXPORT int nvshmemx_buffer_unregister(void* addr) {
  return guard("nvshmemx_buffer_unregister", [&] { world_of("nvshmemx_buffer_unregister").unregister_local(addr); });
}
CAUSEWAY_EXPORT void nvshmemx_buffer_unregister_all() {
  guard("nvshmemx_buffer_unregister_all", [&] { world_of("nvshmemx_buffer_unregister_all").unregister_all(); });
}

CAUSEWAY_EXPORT void* nvshmemx_buffer_register_symmetric(void* ptr, size_t size, int flags) {
  const void* caller = __builtin_return_address(0);
  void* made = nullptr;
  guard("nvshmemx_buffer_register_symmetric", [&] {
    World& world = world_of("nvshmemx_buffer_register_symmetric");
    world.bind();
    void* block = world.heap().adopt(ptr, size, call_site(caller),
                                     flags == 0 ? "" : fmt::format("flags are {:#x}: must be 0", flags));
    world.heap_grew();
    world.bootstrap().barrier("nvshmemx_buffer_register_symmetric");
    made = block;
  });
  return made;
}
CAUSEWAY_EXPORT int nvshmemx_buffer_unregister_symmetric(void* ptr, size_t size) {
  const void* caller = __builtin_return_address(0);
  return guard("nvshmemx_buffer_unregister_symmetric", [&] {
    World& world = world_of("nvshmemx_buffer_unregister_symmetric");
    world.require_bound("nvshmemx_buffer_unregister_symmetric");
    machine_host::synchronize_device();
    world.heap().release(ptr, size, call_site(caller));
    world.heap_grew();
  });
}
