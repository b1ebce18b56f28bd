// Allocation, registration, pointer queries, and exchange with another process.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <map>
#include <random>

#include "runtime_harness.hpp"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

namespace {

TEST(Memory, PiecesAreAlignedAndDoNotOverlap) {
  std::mt19937 random(11);
  std::map<char*, size_t> live;
  for (int i = 0; i < 2000; ++i) {
    if (live.size() > 200 || (!live.empty() && random() % 3 == 0)) {
      auto victim = std::next(live.begin(), long(random() % live.size()));
      for (size_t k = 0; k < victim->second; k += 97) ASSERT_EQ(victim->first[k], char(victim->second));
      ASSERT_EQ(cudaFree(victim->first), cudaSuccess);
      live.erase(victim);
      continue;
    }
    const size_t bytes = 1 + (random() % 20 == 0 ? random() % (6 << 20) : random() % 5000);
    char* pointer = nullptr;
    ASSERT_EQ(cudaMalloc(&pointer, bytes), cudaSuccess);
    ASSERT_EQ(reinterpret_cast<uintptr_t>(pointer) % 256, 0u);
    std::memset(pointer, char(bytes), bytes);
    const auto [entry, fresh] = live.emplace(pointer, bytes);
    ASSERT_TRUE(fresh);
    if (std::next(entry) != live.end()) {
      ASSERT_LE(pointer + bytes, std::next(entry)->first);
    }
    if (entry != live.begin()) {
      ASSERT_LE(std::prev(entry)->first + std::prev(entry)->second, pointer);
    }
  }
  for (const auto& [pointer, bytes] : live) EXPECT_EQ(cudaFree(pointer), cudaSuccess);
}

TEST(Memory, ManySmallPiecesNeedFewDescriptors) {
  std::vector<char*> pieces(5000);
  for (char*& piece : pieces) ASSERT_EQ(cudaMalloc(&piece, 64), cudaSuccess);
  for (char* piece : pieces) ASSERT_EQ(cudaFree(piece), cudaSuccess);
}

TEST(Memory, WrongUseIsAnError) {
  int local = 0;
  char* pointer = nullptr;
  void* none = nullptr;
  EXPECT_EQ(cudaMalloc(static_cast<void**>(nullptr), 8), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMalloc(&none, size_t(1) << 50), cudaErrorMemoryAllocation);
  EXPECT_EQ(cudaFree(&local), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFree(nullptr), cudaSuccess);
  ASSERT_EQ(cudaMalloc(&pointer, 100), cudaSuccess);
  EXPECT_EQ(cudaFree(pointer + 4), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFreeHost(pointer), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFree(pointer), cudaSuccess);
  EXPECT_EQ(cudaFree(pointer), cudaErrorInvalidValue);
  EXPECT_EQ(cudaHostAlloc(&none, 8, 0x80), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMalloc(&none, 0), cudaSuccess);
  EXPECT_EQ(none, nullptr);
}

TEST(Memory, PointersAreKnownByKind) {
  char *device = nullptr, *host = nullptr, *managed = nullptr, *own = static_cast<char*>(std::malloc(64));
  ASSERT_EQ(cudaMalloc(&device, 64), cudaSuccess);
  ASSERT_EQ(cudaMallocHost(&host, 64), cudaSuccess);
  ASSERT_EQ(cudaMallocManaged(&managed, 64), cudaSuccess);
  ASSERT_EQ(cudaHostRegister(own, 64, cudaHostRegisterDefault), cudaSuccess);
  EXPECT_EQ(cudaHostRegister(own + 8, 8, 0), cudaErrorHostMemoryAlreadyRegistered);
  const auto type = [](const void* pointer) {
    cudaPointerAttributes attributes;
    EXPECT_EQ(cudaPointerGetAttributes(&attributes, pointer), cudaSuccess);
    return attributes.type;
  };
  EXPECT_EQ(type(device + 63), cudaMemoryTypeDevice);
  EXPECT_EQ(type(device + 64), cudaMemoryTypeUnregistered);
  EXPECT_EQ(type(host), cudaMemoryTypeHost);
  EXPECT_EQ(type(managed), cudaMemoryTypeManaged);
  EXPECT_EQ(type(own + 5), cudaMemoryTypeHost);
  EXPECT_EQ(cudaHostUnregister(own), cudaSuccess);
  EXPECT_EQ(type(own), cudaMemoryTypeUnregistered);
  EXPECT_EQ(cudaHostUnregister(own), cudaErrorHostMemoryNotRegistered);
  void* mapped = nullptr;
  EXPECT_EQ(cudaHostGetDevicePointer(&mapped, host, 0), cudaSuccess);
  EXPECT_EQ(mapped, host);
  EXPECT_EQ(cudaHostGetDevicePointer(&mapped, device, 0), cudaErrorInvalidValue);
  std::free(own);
  EXPECT_EQ(cudaFree(device), cudaSuccess);
  EXPECT_EQ(cudaFreeHost(host), cudaSuccess);
  EXPECT_EQ(cudaFree(managed), cudaSuccess);
  cudaGetLastError();
}

TEST(Memory, StreamOrderedFreeWaitsForItsStream) {
  cudaStream_t stream;
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  int *pointer = nullptr, result = 0;
  ASSERT_EQ(cudaMallocAsync(&pointer, 1024, stream), cudaSuccess);
  ASSERT_EQ(cudaMemsetAsync(pointer, 1, 1024, stream), cudaSuccess);
  ASSERT_EQ(cudaMemcpyAsync(&result, pointer + 255, 4, cudaMemcpyDeviceToHost, stream), cudaSuccess);
  ASSERT_EQ(cudaFreeAsync(pointer, stream), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(result, 0x01010101);
  EXPECT_EQ(cudaFree(pointer), cudaErrorInvalidValue);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
  cudaGetLastError();
}

#if !SANITIZED
TEST(Memory, AnotherProcessSeesExportedMemory) {
  int to_child[2], from_child[2];
  ASSERT_EQ(pipe(to_child), 0);
  ASSERT_EQ(pipe(from_child), 0);
  // The child starts before the runtime is used in it, as a second PE would.
  const pid_t child = fork();
  if (child == 0) {
    cudaIpcMemHandle_t handle;
    int* remote = nullptr;
    bool ok = read(to_child[0], &handle, sizeof handle) == sizeof handle;
    causeway::emulator::test::OwnPe pe;
    ok = ok && cudaIpcOpenMemHandle(reinterpret_cast<void**>(&remote), handle, cudaIpcMemLazyEnablePeerAccess) == 0;
    ok = ok && remote[3] == 33 && remote[999] == 44;
    if (ok) remote[4] = 55;
    ok = ok && cudaIpcCloseMemHandle(remote) == 0 && cudaIpcCloseMemHandle(remote) == cudaErrorInvalidValue;
    const char answer = ok ? 'y' : 'n';
    _exit(write(from_child[1], &answer, 1) == 1 ? 0 : 1);
  }
  char* before = nullptr;
  int* shared = nullptr;
  ASSERT_EQ(cudaMalloc(&before, 100), cudaSuccess);  // so that the piece does not begin a page
  ASSERT_EQ(cudaMalloc(&shared, 4000), cudaSuccess);
  shared[3] = 33;
  shared[999] = 44;
  cudaIpcMemHandle_t handle;
  ASSERT_EQ(cudaIpcGetMemHandle(&handle, shared), cudaSuccess);
  void* mine = nullptr;
  EXPECT_EQ(cudaIpcOpenMemHandle(&mine, handle, 0), cudaErrorInvalidResourceHandle);
  ASSERT_EQ(write(to_child[1], &handle, sizeof handle), ssize_t(sizeof handle));
  char answer = 0;
  ASSERT_EQ(read(from_child[0], &answer, 1), 1);
  EXPECT_EQ(answer, 'y');
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(shared[4], 55);
  EXPECT_EQ(cudaFree(shared), cudaSuccess);
  EXPECT_EQ(cudaFree(before), cudaSuccess);
  cudaGetLastError();
}

TEST(Memory, AHandleOfWhatIsNoLongerThereGivesNothingElse) {
  int to_child[2];
  ASSERT_EQ(pipe(to_child), 0);
  const pid_t child = fork();
  if (child == 0) {
    cudaIpcMemHandle_t handle;
    void* remote = nullptr;
    if (read(to_child[0], &handle, sizeof handle) != sizeof handle) _exit(1);
    causeway::emulator::test::OwnPe pe;
    _exit(cudaIpcOpenMemHandle(&remote, handle, 0) == cudaErrorInvalidResourceHandle ? 0 : 2);
  }
  void* shared = nullptr;
  ASSERT_EQ(cudaMalloc(&shared, 4000), cudaSuccess);
  cudaIpcMemHandle_t handle;
  ASSERT_EQ(cudaIpcGetMemHandle(&handle, shared), cudaSuccess);
  int number = -1;  // of the descriptor, which from now on is another file's
  std::memcpy(&number, reinterpret_cast<const char*>(&handle) + 12, sizeof number);
  const int saved = dup(number), other = memfd_create("other", MFD_CLOEXEC);
  ASSERT_GE(saved, 0);
  ASSERT_EQ(ftruncate(other, 128 << 20), 0);
  ASSERT_EQ(dup2(other, number), number);
  ASSERT_EQ(write(to_child[1], &handle, sizeof handle), ssize_t(sizeof handle));
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  ASSERT_EQ(dup2(saved, number), number);
  for (int fd : {saved, other, to_child[0], to_child[1]}) close(fd);
  EXPECT_EQ(cudaFree(shared), cudaSuccess);
}
#endif

#if defined(__SANITIZE_ADDRESS__)
TEST(MemoryDeathTest, AddressSanitizerSeesTheEndOfDeviceMemory) {
  EXPECT_DEATH(
      {
        char* pointer = nullptr;
        cudaMalloc(&pointer, 10);
        causeway::emulator::test::run(1, 1, [=] { pointer[10] = 1; });
      },
      "heap-buffer-overflow");
}
#endif

}  // namespace
