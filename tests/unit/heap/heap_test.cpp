// The heap where memory is short. (What programs see of it is in the conformance programs memory and memory_more.)
#include "../bootstrap/jobs.hpp"

#include <causeway/backend/cpu/memory_cpu.hpp>
#include <causeway/base/error.hpp>
#include <causeway/heap/heap.hpp>
#include <cuda_runtime_api.h>

namespace causeway::test {
namespace {

constexpr size_t kMiB = size_t{1} << 20;

/// Memory of the CPU machine, of which each PE believes to have so much.
class ShortMemory final : public Memory {
 public:
  explicit ShortMemory(size_t available) : there_(make_cpu_memory(1)), available_(available) {}
  size_t granularity() const override { return there_->granularity(); }
  size_t stride_wanted() const override { return there_->stride_wanted(); }
  void* reserve(size_t bytes) override { return there_->reserve(bytes); }
  void release(void* base, size_t bytes) override { there_->release(base, bytes); }
  std::unique_ptr<Segment> make(size_t bytes) override {
    if (bytes > available_) fail(Status::out_of_memory, "{} bytes wanted, {} are there", bytes, available_);
    available_ -= bytes;
    return there_->make(bytes);
  }
  std::unique_ptr<Segment> adopt(void* place, size_t bytes) override { return there_->adopt(place, bytes); }
  UniqueFd export_segment(const Segment& segment) override { return there_->export_segment(segment); }
  std::unique_ptr<Segment> import_segment(UniqueFd fd, size_t bytes, size_t offset) override {
    return there_->import_segment(std::move(fd), bytes, offset);
  }
  void map(Segment& segment, void* place) override { there_->map(segment, place); }
  void unmap(Segment& segment, void* place) override { there_->unmap(segment, place); }
  size_t available() const override { return available_; }
  std::string describe() const override { return "short"; }

 private:
  std::unique_ptr<Memory> there_;
  size_t available_;
};

/// Two PEs, of which one has 100 MiB, and `body(heap, bootstrap)` on each.
void with_short_memory(const HeapOptions& options, const std::function<void(Heap&)>& body) {
  LauncherTransport transport(2);
  on_every_pe(2, [&](int pe) {
    const auto bootstrap = transport.join(pe, patient());
    ShortMemory memory(pe == 0 ? 4096 * kMiB : 100 * kMiB);
    Heap heap(memory, *bootstrap, options);
    body(heap);
    bootstrap->barrier("the end");
  });
}

TEST(Heap, BeginsSmallerWhereMemoryIsShort) {
  HeapOptions options;
  options.first_may_be_less = true;
  with_short_memory(options, [](Heap& heap) {
    cudaPointerAttributes attributes;
    EXPECT_EQ(cudaPointerGetAttributes(&attributes, heap.own() + 5), cudaSuccess);
    EXPECT_EQ(attributes.type, cudaMemoryTypeDevice);
    EXPECT_EQ(heap.bytes(), 50 * kMiB);  // half of what the poorer PE has
    EXPECT_NE(heap.allocate(40 * kMiB, 16, "here"), nullptr);
  });
}

TEST(Heap, GrowsByWhatIsNeededWhereMemoryIsShort) {
  HeapOptions options;
  options.first_segment_bytes = 64 * kMiB;
  with_short_memory(options, [](Heap& heap) {
    EXPECT_NE(heap.allocate(60 * kMiB, 16, "here"), nullptr);
    EXPECT_NE(heap.allocate(20 * kMiB, 16, "here"), nullptr);  // another segment of 64 MiB is not there
    EXPECT_LT(heap.bytes(), 90 * kMiB);
    const std::string error = error_of([&] { (void)heap.allocate(30 * kMiB, 16, "here"); });
    EXPECT_NE(error.find("PE 1: "), std::string::npos) << error;
    EXPECT_NE(heap.allocate(10 * kMiB, 16, "here"), nullptr);
  });
}

TEST(Heap, ASizeThatWasAskedForIsNotMadeLess) {
  HeapOptions options;
  options.first_segment_bytes = 128 * kMiB;
  LauncherTransport transport(2);
  on_every_pe(2, [&](int pe) {
    const auto bootstrap = transport.join(pe, patient());
    ShortMemory memory(pe == 0 ? 4096 * kMiB : 100 * kMiB);
    const std::string error = error_of([&] { Heap heap(memory, *bootstrap, options); });
    EXPECT_NE(error.find("PE 1: 134217728 bytes wanted, 104857600 are there"), std::string::npos) << error;
    EXPECT_NE(error.find("NVSHMEM_SYMMETRIC_SIZE"), std::string::npos) << error;
  });
}

TEST(Heap, DifferentFirstSegmentsAreAnErrorOnEveryPe) {
  LauncherTransport transport(3);
  on_every_pe(3, [&](int pe) {
    const auto bootstrap = transport.join(pe, patient());
    const auto memory = make_cpu_memory(3);
    HeapOptions options;
    options.first_segment_bytes = (pe == 1 ? 8 : 4) * kMiB;
    const std::string error = error_of([&] { Heap heap(*memory, *bootstrap, options); });
    EXPECT_NE(error.find("NVSHMEM_SYMMETRIC_SIZE differs between PEs"), std::string::npos) << error;
    EXPECT_NE(error.find("8388608"), std::string::npos) << error;
    EXPECT_NE(error.find("4194304"), std::string::npos) << error;
  });
}

}  // namespace
}  // namespace causeway::test
