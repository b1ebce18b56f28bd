// Devices, properties, errors, and the driver interface.
#include <cuda.h>

#include <cstdlib>
#include <cstring>
#include <thread>

#include "runtime_harness.hpp"

using namespace causeway::emulator;
using namespace causeway::emulator::test;

namespace {

TEST(Devices, CountAndChoice) {
  OwnPe pe;
  causeway::cpu::pe_context().devices = 4;
  int count = 0, device = -1;
  EXPECT_EQ(cudaGetDeviceCount(&count), cudaSuccess);
  EXPECT_EQ(count, 4);
  EXPECT_EQ(cudaSetDevice(4), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaSetDevice(-1), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaSetDevice(2), cudaSuccess);
  EXPECT_EQ(cudaGetDevice(&device), cudaSuccess);
  EXPECT_EQ(device, 2);
  std::thread([] {
    int fresh = -1;
    EXPECT_EQ(cudaGetDevice(&fresh), cudaSuccess);
    EXPECT_EQ(fresh, 0);
  }).join();
  int can = -1;
  EXPECT_EQ(cudaDeviceCanAccessPeer(&can, 0, 1), cudaSuccess);
  EXPECT_EQ(can, 1);
  EXPECT_EQ(cudaDeviceEnablePeerAccess(2, 0), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaDeviceEnablePeerAccess(1, 0), cudaSuccess);
  EXPECT_EQ(cudaDeviceEnablePeerAccess(1, 0), cudaErrorPeerAccessAlreadyEnabled);
  EXPECT_EQ(cudaDeviceDisablePeerAccess(1), cudaSuccess);
  EXPECT_EQ(cudaDeviceDisablePeerAccess(1), cudaErrorPeerAccessNotEnabled);
  char id[32];
  EXPECT_EQ(cudaDeviceGetPCIBusId(id, sizeof id, 3), cudaSuccess);
  EXPECT_EQ(cudaDeviceGetByPCIBusId(&device, id), cudaSuccess);
  EXPECT_EQ(device, 3);
  EXPECT_EQ(cudaDeviceGetPCIBusId(id, 5, 3), cudaErrorInvalidValue);
  EXPECT_EQ(cudaSetDevice(0), cudaSuccess);
  cudaGetLastError();
}

TEST(Devices, CountComesFromTheEnvironment) {
  OwnPe pe;
  int count = 0;
  setenv("CAUSEWAY_PES", "3", 1);
  cudaGetDeviceCount(&count);
  EXPECT_EQ(count, 3);
  setenv("CAUSEWAY_CPU_DEVICES", "2", 1);
  cudaGetDeviceCount(&count);
  EXPECT_EQ(count, 2);
  setenv("CAUSEWAY_CPU_DEVICES", "nonsense", 1);
  unsetenv("CAUSEWAY_PES");
  cudaGetDeviceCount(&count);
  EXPECT_EQ(count, 1);
  unsetenv("CAUSEWAY_CPU_DEVICES");
}

TEST(Devices, AttributesAgreeWithProperties) {
  cudaDeviceProp p;
  ASSERT_EQ(cudaGetDeviceProperties(&p, 0), cudaSuccess);
  EXPECT_EQ(p.multiProcessorCount, 132);
  EXPECT_EQ(p.major * 10 + p.minor, 90);
  EXPECT_STREQ(p.name, "Causeway CPU machine (H200 model)");
  const auto attribute = [](cudaDeviceAttr number) {
    int value = -77;
    EXPECT_EQ(cudaDeviceGetAttribute(&value, number, 0), cudaSuccess);
    return value;
  };
  EXPECT_EQ(attribute(cudaDevAttrMultiProcessorCount), 132);
  EXPECT_EQ(attribute(cudaDevAttrWarpSize), 32);
  EXPECT_EQ(attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin), int(p.sharedMemPerBlockOptin));
  EXPECT_EQ(attribute(cudaDevAttrCooperativeLaunch), 1);
  EXPECT_EQ(attribute(cudaDevAttrNumaId), -1);
  int value;
  EXPECT_EQ(cudaDeviceGetAttribute(&value, cudaDeviceAttr(9999), 0), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetDeviceProperties(&p, 1000), cudaErrorInvalidDevice);
  int grid = 0, block = 0, blocks = 0;
  EXPECT_EQ(cudaOccupancyMaxPotentialBlockSize(
                &grid, &block, +[](int*) {}),
            cudaSuccess);
  EXPECT_EQ(grid * block, 132 * 2048);
  EXPECT_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
                &blocks, +[](int*) {}, 256, 100 * 1024),
            cudaSuccess);
  EXPECT_EQ(blocks, 2);
  cudaGetLastError();
}

TEST(Errors, NamesAndTexts) {
  EXPECT_STREQ(cudaGetErrorName(cudaSuccess), "cudaSuccess");
  EXPECT_STREQ(cudaGetErrorName(cudaErrorInvalidConfiguration), "cudaErrorInvalidConfiguration");
  EXPECT_STREQ(cudaGetErrorString(cudaErrorMemoryAllocation), "out of memory");
  EXPECT_STREQ(cudaGetErrorName(cudaError_t(12345)), "unrecognized error code");
  const char* text = nullptr;
  EXPECT_EQ(cuGetErrorName(CUDA_ERROR_INVALID_HANDLE, &text), CUDA_SUCCESS);
  EXPECT_STREQ(text, "CUDA_ERROR_INVALID_HANDLE");
  EXPECT_EQ(cuGetErrorString(CUresult(12345), &text), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(text, nullptr);
}

TEST(Errors, TheLastOneIsOfTheThread) {
  EXPECT_EQ(cudaSetDevice(-5), cudaErrorInvalidDevice);
  std::thread([] { EXPECT_EQ(cudaGetLastError(), cudaSuccess); }).join();
  int count;
  EXPECT_EQ(cudaGetDeviceCount(&count), cudaSuccess);  // success does not clear it
  EXPECT_EQ(cudaPeekAtLastError(), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST(Driver, MemoryAndContexts) {
  ASSERT_EQ(cuInit(0), CUDA_SUCCESS);
  CUdevice device;
  CUcontext primary, current;
  ASSERT_EQ(cuDeviceGet(&device, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&primary, device), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxSetCurrent(primary), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxGetCurrent(&current), CUDA_SUCCESS);
  EXPECT_EQ(current, primary);
  CUdeviceptr memory = 0, base = 0;
  size_t bytes = 0;
  ASSERT_EQ(cuMemAlloc(&memory, 256), CUDA_SUCCESS);
  ASSERT_EQ(cuMemsetD32(memory, 0x12345678, 64), CUDA_SUCCESS);
  unsigned word = 0, type = 0;
  ASSERT_EQ(cuMemcpyDtoH(&word, memory + 252, 4), CUDA_SUCCESS);
  EXPECT_EQ(word, 0x12345678u);
  EXPECT_EQ(cuMemGetAddressRange(&base, &bytes, memory + 100), CUDA_SUCCESS);
  EXPECT_EQ(base, memory);
  EXPECT_EQ(bytes, 256u);
  EXPECT_EQ(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, memory), CUDA_SUCCESS);
  EXPECT_EQ(type, unsigned{CU_MEMORYTYPE_DEVICE});
  EXPECT_EQ(cuMemFree(memory + 4), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);  // the driver leaves no last error
  EXPECT_EQ(cuMemFree(memory), CUDA_SUCCESS);
  EXPECT_EQ(cuDevicePrimaryCtxRelease(device), CUDA_SUCCESS);
}

TEST(Driver, StreamsWaitForValues) {
  CUstream waiting, writing;
  ASSERT_EQ(cuStreamCreate(&waiting, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamCreate(&writing, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  DeviceArray<unsigned long long> words(3);
  const auto at = reinterpret_cast<CUdeviceptr>(words.get());
  ASSERT_EQ(cuStreamWaitValue64(waiting, at, 5, CU_STREAM_WAIT_VALUE_GEQ), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamWaitValue32(waiting, at + 8, 4, CU_STREAM_WAIT_VALUE_AND), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamWriteValue64(waiting, at + 16, 1, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamQuery(waiting), CUDA_ERROR_NOT_READY);
  ASSERT_EQ(cuStreamWriteValue64(writing, at, 6, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamSynchronize(writing), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamQuery(waiting), CUDA_ERROR_NOT_READY);
  ASSERT_EQ(cuStreamWriteValue32(writing, at + 8, 12, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamSynchronize(waiting), CUDA_SUCCESS);
  EXPECT_EQ(words.host()[2], 1u);
  EXPECT_EQ(cuStreamWaitValue32(waiting, at + 2, 0, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuStreamWaitValue32(waiting, at, 0, 7), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuStreamDestroy(waiting), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamDestroy(writing), CUDA_SUCCESS);
}

}  // namespace
