// The heap where memory is short. (What programs see of it is in the conformance programs memory and
// memory_realloc_register.)
#include "fd_harness.hpp"

#include <causeway/host/cpu/memory.hpp>
#include <causeway/base/error.hpp>
#include <causeway/heap/heap.hpp>
#include <cuda_runtime_api.h>

#include <sys/resource.h>

#include <barrier>

namespace causeway::test {
namespace {

constexpr size_t kMiB = size_t{1} << 20;

/// Memory of the CPU machine, of which each PE believes to have so much.
class ShortMemory final : public Memory {
 public:
  explicit ShortMemory(size_t available) : there_(make_cpu_memory(1)), available_(available) {}
  size_t granularity() const override { return there_->granularity(); }
  size_t stride_wanted() const override { return there_->stride_wanted(); }
  void* reserve(size_t bytes, size_t alignment) override { return there_->reserve(bytes, alignment); }
  void release(void* base, size_t bytes) override { there_->release(base, bytes); }
  std::unique_ptr<Segment> make(size_t bytes) override {
    if (bytes > available_) fail(Status::out_of_memory, "{} bytes wanted, {} are there", bytes, available_);
    available_ -= bytes;
    return there_->make(bytes);
  }
  std::unique_ptr<Segment> adopt(void* address, size_t bytes) override { return there_->adopt(address, bytes); }
  UniqueFd export_segment(const Segment& segment) override { return there_->export_segment(segment); }
  std::unique_ptr<Segment> import_segment(UniqueFd fd, size_t bytes, size_t offset) override {
    return there_->import_segment(std::move(fd), bytes, offset);
  }
  void map(Segment& segment, void* address) override { there_->map(segment, address); }
  void unmap(Segment& segment, void* address) override { there_->unmap(segment, address); }
  size_t available() const override { return available_; }
  bool serves_process() const override { return there_->serves_process(); }

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

/// `body` on each PE with a heap of 4 MiB; each PE counts as a process of its own.
void with_heap(int pes, const std::function<void(Heap&, Bootstrap&)>& body, HeapOptions options = {}) {
  LauncherTransport transport(pes);
  options.first_segment_bytes = 4 * kMiB;
  on_every_pe(pes, [&](int pe) {
    const auto bootstrap = transport.join(pe, patient());
    const auto memory = make_cpu_memory(1);
    HeapOptions own = options;
    own.exchange.process = process_of(pe);
    Heap heap(*memory, *bootstrap, own);
    body(heap, *bootstrap);
    bootstrap->barrier("the end");
  });
}

TEST(Heap, KeepsNoDescriptorsAndReachesAllPes) {
  with_heap(4, [](Heap& heap, Bootstrap& bootstrap) {
    const size_t before = open_descriptors(bootstrap);
    for (int grown = 0; grown < 5; ++grown) {
      auto* words = static_cast<int*>(heap.allocate(6 * kMiB, 16, "here"));
      *words = 1000 * grown + bootstrap.pe();
      bootstrap.barrier("written");
      for (int pe = 0; pe < bootstrap.pes(); ++pe)
        EXPECT_EQ(words[(pe - bootstrap.pe()) * ptrdiff_t(heap.stride() / sizeof(int))], 1000 * grown + pe);
    }
    EXPECT_GT(heap.bytes(), 30 * kMiB);
    EXPECT_EQ(open_descriptors(bootstrap), before);
  });
}

TEST(Heap, BeginsAtAMultipleOfEveryAlignment) {
  for (int pes : {1, 2, 3})
    with_heap(pes, [](Heap& heap, Bootstrap& bootstrap) {
      for (size_t alignment = 4096; alignment <= Heap::alignment_max; alignment *= 4)
        for (size_t bytes : {size_t{100}, 5 * kMiB}) {
          void* block = heap.allocate(bytes, alignment, "here");
          EXPECT_EQ(reinterpret_cast<uintptr_t>(block) % alignment, 0u) << alignment;
          static_cast<char*>(block)[bytes - 1] = 1;
          bootstrap.barrier("a block");
          heap.free(block, "here");
        }
      EXPECT_LT(heap.bytes(), Heap::alignment_max + 32 * kMiB) << "grows to where it is needed, no further";
    });
}

TEST(Heap, ABadAlignmentOfOnePeIsAnErrorOfAll) {
  with_heap(3, [](Heap& heap, Bootstrap& bootstrap) {
    for (size_t bad : {size_t{0}, size_t{24}, size_t{1} << 31, SIZE_MAX}) {
      const std::string expected = fmt::format("alignment is {}: must be a power of two, at most 1073741824", bad);
      const std::string of_one = error_of([&] { (void)heap.allocate(64, bootstrap.pe() == 1 ? bad : 4096, "here"); });
      EXPECT_EQ(of_one, "PE 1: " + expected);
      EXPECT_EQ(error_of([&] { (void)heap.allocate(64, bad, "here"); }), "PE 0: " + expected);
    }
    EXPECT_EQ(error_of([&] { (void)heap.allocate(64, 64, "here", bootstrap.pe() == 2 ? "count is 3" : ""); }),
              "PE 2: count is 3");
    EXPECT_NE(heap.allocate(64, 64, "here"), nullptr);
  });
}

TEST(Heap, ASmallStrideLimitsAlignment) {
  HeapOptions options;
  options.stride = 16 * kMiB;
  with_heap(
      3,
      [](Heap& heap, Bootstrap&) {
        EXPECT_EQ(reinterpret_cast<uintptr_t>(heap.allocate(64, 8 * kMiB, "here")) % (8 * kMiB), 0u);
        EXPECT_EQ(error_of([&] { (void)heap.allocate(64, 32 * kMiB, "here"); }),
                  "PE 0: alignment is 33554432: must be a power of two, at most 16777216, the heap's stride "
                  "(CAUSEWAY_HEAP_STRIDE)");
      },
      options);
}

TEST(Heap, AnUnknownAmountOfMemoryIsNotNone) {
  const auto memory = make_cpu_memory(2, "/nowhere");  // no /proc
  EXPECT_EQ(memory->available(), SIZE_MAX);
  EXPECT_EQ(memory->make(4 * kMiB)->bytes(), 4 * kMiB);
}

TEST(Heap, ManyPesNeedFewDescriptors) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  constexpr int kPes = 24;
  std::barrier all(kPes, [&]() noexcept {
    // As many more as a process with sockets to all peers at once would not be content with, for all PEs together.
    const auto open = std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
    const rlimit low{rlim_t(open) + 10 * kPes, before.rlim_max};
    (void)setrlimit(RLIMIT_NOFILE, &low);
  });
  LauncherTransport transport(kPes);
  on_every_pe(kPes, [&](int pe) {
    const auto bootstrap = transport.join(pe, patient());
    all.arrive_and_wait();
    const auto memory = make_cpu_memory(kPes);
    HeapOptions options;
    options.first_segment_bytes = 2 * kMiB;
    options.exchange.process = process_of(pe);
    Heap heap(*memory, *bootstrap, options);
    for (int i = 0; i < 8; ++i) EXPECT_NE(heap.allocate(2 * kMiB, 16, "here"), nullptr);
    bootstrap->barrier("the end");
  });
  EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
}

}  // namespace
}  // namespace causeway::test
