// Device memory shared between processes: a handle names the owner's process and file descriptor, and the other process
// maps the same pages through /proc. Both must run as the same user, as on a GPU.
#include <causeway/base/process_identity.hpp>
#include <causeway/base/unique_fd.hpp>
#include <causeway/emulator/runtime/allocations.hpp>
#include <causeway/emulator/runtime/devices.hpp>
#include <causeway/machine/cpu/context.hpp>
#include <causeway/machine/cpu/device.hpp>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>

using namespace causeway;
using namespace causeway::emulator;

namespace {

struct HandleContent {
  uint64_t magic;  // tells a handle from an uninitialised one
  int32_t pid, fd;
  uint64_t offset, bytes;
  uint64_t base;   // the owner's address
  uint64_t inode;  // of the memory: pid and fd may name something else by now, or in another container
  ProcessIdentity process;
};
static_assert(sizeof(HandleContent) <= sizeof(cudaIpcMemHandle_t));
constexpr uint64_t kMagic = 0x6361757365776179;  // "causeway"
constexpr size_t kPage = 4096;

/// Which file it is; 0 if it cannot be told.
uint64_t inode_of(int fd) {
  struct stat file {};
  return fstat(fd, &file) == 0 ? file.st_ino : 0;
}

}  // namespace

cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t* handle, void* pointer) {
  return device_call([&] {
    refuse_if(!handle || !pointer, cudaErrorInvalidValue);
    const auto memory = allocations().find(pointer);
    refuse_if(!memory || memory->kind != MemoryKind::device, cudaErrorInvalidValue);
    // Under a sanitizer device memory is private memory of its allocator.
    refuse_if(memory->piece.fd < 0, cudaErrorNotSupported);
    const HandleContent content{kMagic,
                                int32_t(getpid()),
                                int32_t(memory->piece.fd),
                                memory->piece.offset,
                                memory->bytes,
                                reinterpret_cast<uint64_t>(memory->base),
                                inode_of(memory->piece.fd),
                                process_identity()};
    *handle = {};
    std::memcpy(handle, &content, sizeof content);
  });
}

cudaError_t cudaIpcOpenMemHandle(void** pointer, cudaIpcMemHandle_t handle, unsigned flags) {
  return device_call([&] {
    refuse_if(!pointer || (flags & ~unsigned{cudaIpcMemLazyEnablePeerAccess}), cudaErrorInvalidValue);
    HandleContent content;
    std::memcpy(&content, &handle, sizeof content);
    refuse_if(content.magic != kMagic, cudaErrorInvalidValue);
    // CUDA does not open a handle in the process that made it either.
    refuse_if(content.process == process_identity(), cudaErrorInvalidResourceHandle);
    UniqueFd fd(::open(fmt::format("/proc/{}/fd/{}", content.pid, content.fd).c_str(), O_RDWR | O_CLOEXEC));
    refuse_if(!fd || inode_of(fd.get()) != content.inode, cudaErrorInvalidResourceHandle);
    const size_t before = content.offset % kPage, bytes = before + content.bytes;
    void* mapping = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), off_t(content.offset - before));
    refuse_if(mapping == MAP_FAILED, cudaErrorMemoryAllocation);
    Allocation memory;
    memory.base = static_cast<char*>(mapping) + before;
    memory.bytes = content.bytes;
    memory.kind = MemoryKind::imported;
    memory.device = selected_device();
    memory.mapping = mapping;
    memory.mapping_bytes = bytes;
    allocations().add(memory);
    *pointer = memory.base;
  });
}

cudaError_t cudaIpcCloseMemHandle(void* pointer) {
  return device_call([&] {
    cpu::device().synchronize();
    const auto memory = allocations().remove(pointer, MemoryKind::imported);
    refuse_if(!memory, cudaErrorInvalidValue);
    munmap(memory->mapping, memory->mapping_bytes);
  });
}
