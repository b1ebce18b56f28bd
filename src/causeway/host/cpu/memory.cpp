#include <causeway/host/cpu/memory.hpp>
#include <causeway/base/error.hpp>
#include <causeway/emulator/runtime/allocations.hpp>
#include <causeway/config/topology.hpp>
#include <cuda_runtime_api.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <bit>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

namespace causeway {
namespace {

constexpr uint64_t kPage = 4096;

class CpuSegment : public Segment {
 public:
  CpuSegment(UniqueFd fd, size_t bytes, size_t offset = 0) : fd_(std::move(fd)), bytes_(bytes), offset_(offset) {}
  [[nodiscard]] size_t bytes() const override { return bytes_; }
  [[nodiscard]] size_t offset() const override { return offset_; }
  [[nodiscard]] int fd() const { return fd_.get(); }
  void close_fd() { fd_.reset(); }

 private:
  UniqueFd fd_;
  size_t bytes_, offset_;
};

/// A line of /proc/self/maps: a mapping of shared pages and where in which file they are.
struct SharedMapping {
  uint64_t begin = 0, end = 0, offset = 0, inode = 0;
  unsigned major = 0, minor = 0;
};

/// The shared mapping that holds [address, address + bytes), or nothing.
std::optional<SharedMapping> find_mapping(const void* address, size_t bytes) {
  const auto begin = reinterpret_cast<uint64_t>(address);
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    SharedMapping found;
    char access[8] = {};
    if (std::sscanf(line.c_str(), "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %x:%x %" SCNu64, &found.begin, &found.end,
                    access, &found.offset, &found.major, &found.minor, &found.inode) != 7)
      continue;
    if (begin >= found.begin && begin + bytes <= found.end && access[3] == 's' && found.inode != 0) return found;
  }
  return std::nullopt;
}

/// An open descriptor of this process for the file, duplicated.
UniqueFd find_descriptor(const SharedMapping& mapping) {
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    const int fd = std::atoi(entry.path().filename().c_str());
    struct stat file {};
    if (fstat(fd, &file) == 0 && file.st_ino == mapping.inode && major(file.st_dev) == mapping.major &&
        minor(file.st_dev) == mapping.minor)
      return UniqueFd(fcntl(fd, F_DUPFD_CLOEXEC, 0));
  }
  return {};
}

class CpuMemory : public Memory {
 public:
  CpuMemory(int pes_on_host, std::filesystem::path root)
      : pes_on_host_(size_t(std::max(1, pes_on_host))), root_(std::move(root)) {}

  [[nodiscard]] size_t granularity() const override { return size_t{2} << 20; }

  [[nodiscard]] size_t stride_wanted() const override {
    return std::bit_ceil(std::max(size_t(read_memory_sizes(root_).total_bytes), size_t{4} << 30));
  }

  void* reserve(size_t bytes, size_t alignment) override {
    // So much more that an aligned range lies in it; what is around that goes back.
    const size_t more = alignment > kPage ? alignment : 0;
    if (bytes > SIZE_MAX - more) return nullptr;
    void* all = mmap(nullptr, bytes + more, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (all == MAP_FAILED) return nullptr;
    char* const begin = static_cast<char*>(all);
    const size_t before = more ? -reinterpret_cast<uint64_t>(begin) % alignment : 0;
    if (before > 0) munmap(begin, before);
    if (more > before) munmap(begin + before + bytes, more - before);
    return begin + before;
  }
  void release(void* base, size_t bytes) override { munmap(base, bytes); }

  std::unique_ptr<Segment> make(size_t bytes) override {
    // Pages come when they are touched, so more than there is would end in a kill later on: refuse it now.
    if (bytes > available())
      fail(Status::out_of_memory,
           "a heap segment of {} bytes for each of {} PEs on this host: {} bytes a PE are available", bytes,
           pes_on_host_, available());
    UniqueFd fd(memfd_create("causeway-heap", MFD_CLOEXEC));
    if (!fd) fail_errno("making a heap segment");
    if (ftruncate(fd.get(), off_t(bytes)) != 0) fail_errno(fmt::format("sizing a heap segment of {} bytes", bytes));
    return std::make_unique<CpuSegment>(std::move(fd), bytes);
  }

  std::unique_ptr<Segment> adopt(void* address, size_t bytes) override {
    if (reinterpret_cast<uint64_t>(address) % kPage != 0 || bytes % kPage != 0)
      fail(Status::invalid_value, "ptr is {} and size {}: both must be multiples of a page, {} bytes", address, bytes,
           kPage);
    const auto mapping = find_mapping(address, bytes);
    UniqueFd fd = mapping ? find_descriptor(*mapping) : UniqueFd();
    if (!fd)
      fail(Status::invalid_value, "ptr is {} ({} bytes): must be shared memory with a descriptor (memfd; cudaMalloc)",
           address, bytes);
    return std::make_unique<CpuSegment>(std::move(fd), bytes,
                                        mapping->offset + (reinterpret_cast<uint64_t>(address) - mapping->begin));
  }

  UniqueFd export_segment(const Segment& segment) override {
    UniqueFd fd(fcntl(static_cast<const CpuSegment&>(segment).fd(), F_DUPFD_CLOEXEC, 0));
    if (!fd) fail_errno("passing on a heap segment");
    return fd;
  }
  std::unique_ptr<Segment> import_segment(UniqueFd fd, size_t bytes, size_t offset) override {
    struct stat file {};
    if (fstat(fd.get(), &file) != 0 || size_t(file.st_size) < offset + bytes)
      fail(Status::internal, "a peer's heap segment has {} bytes instead of {} from {} on", file.st_size, bytes,
           offset);
    return std::make_unique<CpuSegment>(std::move(fd), bytes, offset);
  }

  void map(Segment& segment, void* address) override {
    auto& own = static_cast<CpuSegment&>(segment);
    if (mmap(address, own.bytes(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_NORESERVE, own.fd(),
             off_t(own.offset())) == MAP_FAILED)
      fail_errno("mapping a heap segment");
    own.close_fd();  // the mapping keeps the memory; a descriptor for each peer and segment would soon be too many
    int device = 0;
    (void)cudaGetDevice(&device);
    emulator::note_device_memory(address, own.bytes(), device);
  }
  void unmap(Segment& segment, void* address) override {
    emulator::forget_device_memory(address);
    // Back to reserved address space, so that nothing else lands between the heaps.
    mmap(address, segment.bytes(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  }

#if defined(__SANITIZE_THREAD__)
  // ThreadSanitizer knows neither fences nor what PEs tell each other over sockets: what PEs do to each other's heaps,
  // where each has addresses of its own for them, it does not compare.
  [[nodiscard]] bool serves_process() const override { return false; }
#else
  [[nodiscard]] bool serves_process() const override { return true; }
#endif

  [[nodiscard]] size_t available() const override {
    const auto bytes = read_memory_sizes(root_).available_bytes;
    return bytes ? size_t(*bytes) / pes_on_host_ : SIZE_MAX;
  }

 private:
  size_t pes_on_host_;
  std::filesystem::path root_;
};

}  // namespace

std::unique_ptr<Memory> make_cpu_memory(int pes_on_host, const std::filesystem::path& root) {
  return std::make_unique<CpuMemory>(pes_on_host, root);
}

}  // namespace causeway
