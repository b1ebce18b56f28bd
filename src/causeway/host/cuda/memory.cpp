#include <causeway/host/cuda/driver.hpp>
#include <causeway/host/cuda/memory.hpp>
#include <causeway/base/error.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>

namespace causeway {
namespace {

using cuda::check;
using cuda::driver;

CUmemAllocationProp properties(int device) {
  CUmemAllocationProp prop{};
  prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  prop.location.id = device;
  return prop;
}

class CudaSegment : public Segment {
 public:
  CudaSegment(CUmemGenericAllocationHandle handle, size_t bytes) : handle_(handle), bytes_(bytes) {}
  ~CudaSegment() override { driver().release(handle_); }
  CudaSegment(const CudaSegment&) = delete;
  CudaSegment& operator=(const CudaSegment&) = delete;
  [[nodiscard]] size_t bytes() const override { return bytes_; }
  [[nodiscard]] CUmemGenericAllocationHandle handle() const { return handle_; }

 private:
  CUmemGenericAllocationHandle handle_;
  size_t bytes_;
};

class CudaMemory : public Memory {
 public:
  explicit CudaMemory(int device) : device_(device) {
    const CUmemAllocationProp prop = properties(device);
    check(driver().granularity(&granularity_, &prop, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED),
          "asking for the granularity of GPU memory");
    size_t free_bytes = 0;
    check(cudaMemGetInfo(&free_bytes, &total_bytes_), "asking for the size of GPU memory");
  }

  [[nodiscard]] size_t granularity() const override { return granularity_; }
  [[nodiscard]] size_t stride_wanted() const override { return std::bit_ceil(std::max(total_bytes_, size_t{4} << 30)); }

  void* reserve(size_t bytes, size_t alignment) override {
    CUdeviceptr base = 0;
    if (driver().reserve(&base, bytes, alignment, 0, 0) != CUDA_SUCCESS) return nullptr;
    return reinterpret_cast<void*>(base);
  }
  void release(void* base, size_t bytes) override {
    driver().release_address(reinterpret_cast<CUdeviceptr>(base), bytes);
  }

  std::unique_ptr<Segment> make(size_t bytes) override {
    const CUmemAllocationProp prop = properties(device_);
    CUmemGenericAllocationHandle handle = 0;
    const CUresult status = driver().create(&handle, bytes, &prop, 0);
    if (status == CUDA_ERROR_OUT_OF_MEMORY)
      fail(Status::out_of_memory, "a heap segment of {} bytes on GPU {}: {} bytes are free of {}", bytes, device_,
           available(), total_bytes_);
    check(status, "making a heap segment on the GPU");
    return std::make_unique<CudaSegment>(handle, bytes);
  }

  std::unique_ptr<Segment> adopt(void* address, size_t bytes) override {
    CUdeviceptr begin = 0;
    size_t size = 0;
    CUmemGenericAllocationHandle handle = 0;
    if (driver().address_range(&begin, &size, reinterpret_cast<CUdeviceptr>(address)) != CUDA_SUCCESS ||
        driver().retain_handle(&handle, address) != CUDA_SUCCESS)
      fail(Status::invalid_value, "ptr is {}: must be memory of cuMemCreate that can be exported as a file descriptor",
           address);
    auto segment = std::make_unique<CudaSegment>(handle, bytes);
    if (begin != reinterpret_cast<CUdeviceptr>(address) || bytes > size || bytes % granularity_ != 0)
      fail(Status::invalid_value,
           "ptr is {} and size {}: must be the beginning of an allocation ({}, {} bytes) and a multiple of {}", address,
           bytes, reinterpret_cast<void*>(begin), size, granularity_);
    return segment;
  }

  UniqueFd export_segment(const Segment& segment) override {
    int fd = -1;
    check(driver().export_handle(&fd, static_cast<const CudaSegment&>(segment).handle(),
                                 CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0),
          "exporting a heap segment");
    return UniqueFd(fd);
  }
  std::unique_ptr<Segment> import_segment(UniqueFd fd, size_t bytes, size_t) override {
    CUmemGenericAllocationHandle handle = 0;
    check(driver().import_handle(&handle, reinterpret_cast<void*>(static_cast<intptr_t>(fd.get())),
                                 CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR),
          "importing a peer's heap segment (GPUs must be able to reach each other by load and store)");
    return std::make_unique<CudaSegment>(handle, bytes);
  }

  void map(Segment& segment, void* address) override {
    const auto begin = reinterpret_cast<CUdeviceptr>(address);
    check(driver().map(begin, segment.bytes(), 0, static_cast<CudaSegment&>(segment).handle(), 0),
          "mapping a heap segment");
    CUmemAccessDesc access{};
    access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    access.location.id = device_;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    const CUresult status = driver().set_access(begin, segment.bytes(), &access, 1);
    if (status != CUDA_SUCCESS) driver().unmap(begin, segment.bytes());
    check(status, "getting access to a heap segment (GPUs must be able to reach each other by load and store)");
  }
  void unmap(Segment& segment, void* address) override {
    driver().unmap(reinterpret_cast<CUdeviceptr>(address), segment.bytes());
  }

  [[nodiscard]] bool serves_process() const override { return false; }  // each device is given access of its own

  [[nodiscard]] size_t available() const override {
    size_t free_bytes = 0, total = 0;
    return cudaMemGetInfo(&free_bytes, &total) == cudaSuccess ? free_bytes : SIZE_MAX;
  }

 private:
  int device_;
  size_t granularity_ = 0, total_bytes_ = 0;
};

}  // namespace

std::unique_ptr<Memory> make_cuda_memory(int device) { return std::make_unique<CudaMemory>(device); }

}  // namespace causeway
