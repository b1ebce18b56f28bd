// The library's file descriptors: none takes the number of a closed standard stream. None stays for a peer's memory.
#include "harness.hpp"

#include <filesystem>

using namespace conformance;

namespace {

// PEs that are threads share what they have open, and a CUDA driver and a sanitizer have files of their own.
bool has_its_own() {
#if defined(CAUSEWAY_CPU)
  return std::getenv("CAUSEWAY_PE") && !kSanitized;
#else
  return false;
#endif
}

ptrdiff_t count_open() { return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {}); }

/// The heap grows by segments of all PEs.
void run_growth(Suite& suite) {
  std::vector<int*> blocks;
  int* first = static_cast<int*>(nvshmem_calloc(1, sizeof(int)));
  CHECK(first);
  const ptrdiff_t before = count_open();
  for (int i = 0; i < 6; ++i) {
    blocks.push_back(static_cast<int*>(nvshmem_malloc(size_t{6} << 20)));
    CHECK(blocks.back());
    nvshmem_int_p(blocks.back(), 100 * i + suite.me, (suite.me + 1) % suite.pes);
    nvshmem_barrier_all();
    suite.equal(nvshmem_int_g(blocks.back(), suite.me), 100 * i + (suite.me + suite.pes - 1) % suite.pes, "what came");
  }
  if (has_its_own()) suite.equal(count_open(), before, "open descriptors after growth");
  nvshmem_barrier_all();
  for (int* block : blocks) nvshmem_free(block);
  nvshmem_free(first);
}

}  // namespace

int main(int argc, char** argv) {
  if (!std::getenv("NVSHMEM_SYMMETRIC_SIZE")) setenv("NVSHMEM_SYMMETRIC_SIZE", "8M", 1);
  Suite suite(argc, argv);  // (has a copy of the error stream, to report to)
  if (has_its_own())
    for (int stream : {0, 1, 2}) close(stream);
  suite.init();
  suite.family("descriptors.growth", 1, [&](Random&, int) { run_growth(suite); });
  suite.family("descriptors.streams", 1, [&](Random&, int) {
    for (int stream : {0, 1, 2})
      if (has_its_own() && fcntl(stream, F_GETFD) >= 0) suite.wrong("something of the library is open as %d", stream);
  });
  return suite.finish();
}
