// See memory_cpu.hpp.
#include <causeway/backend/cpu/memory_cpu.hpp>
#include <causeway/base/error.hpp>
#include <causeway/runtime/topology.hpp>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <bit>
#include <cstring>

namespace causeway {
namespace {

class CpuSegment : public Segment {
 public:
  CpuSegment(UniqueFd fd, size_t bytes) : fd_(std::move(fd)), bytes_(bytes) {}
  [[nodiscard]] size_t bytes() const override { return bytes_; }
  [[nodiscard]] int fd() const { return fd_.get(); }

 private:
  UniqueFd fd_;
  size_t bytes_;
};

class CpuMemory : public Memory {
 public:
  explicit CpuMemory(int pes_on_host) : pes_on_host_(size_t(std::max(1, pes_on_host))) {}

  [[nodiscard]] size_t granularity() const override { return size_t{2} << 20; }

  [[nodiscard]] size_t stride_wanted() const override {
    return std::bit_ceil(std::max(size_t(read_memory_sizes().total_bytes), size_t{4} << 30));
  }

  void* reserve(size_t bytes) override {
    void* base = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return base == MAP_FAILED ? nullptr : base;
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

  UniqueFd export_segment(const Segment& segment) override {
    return UniqueFd(dup(static_cast<const CpuSegment&>(segment).fd()));
  }
  std::unique_ptr<Segment> import_segment(UniqueFd fd, size_t bytes) override {
    struct stat file {};
    if (fstat(fd.get(), &file) != 0 || size_t(file.st_size) != bytes)
      fail(Status::internal, "a peer's heap segment has {} bytes instead of {}", file.st_size, bytes);
    return std::make_unique<CpuSegment>(std::move(fd), bytes);
  }

  void map(Segment& segment, void* place) override {
    const auto& own = static_cast<CpuSegment&>(segment);
    if (mmap(place, own.bytes(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_NORESERVE, own.fd(), 0) ==
        MAP_FAILED)
      fail_errno("mapping a heap segment");
  }
  void unmap(Segment& segment, void* place) override {
    // Back to reserved address space, so that nothing else lands between the heaps.
    mmap(place, segment.bytes(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  }

  [[nodiscard]] size_t available() const override { return size_t(read_memory_sizes().available_bytes) / pes_on_host_; }
  [[nodiscard]] std::string describe() const override { return "memfd segments"; }

 private:
  size_t pes_on_host_;
};

}  // namespace

std::unique_ptr<Memory> make_cpu_memory(int pes_on_host) { return std::make_unique<CpuMemory>(pes_on_host); }

}  // namespace causeway
