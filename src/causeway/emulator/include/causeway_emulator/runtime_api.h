// The runtime interface: the functions of cuda_runtime_api.h that work on the CPU machine.
#pragma once
#include "device_properties.h"
#include "launch_types.h"

extern "C" {

// ---- errors
CAUSEWAY_EMULATOR_API cudaError_t cudaGetLastError(void);
CAUSEWAY_EMULATOR_API cudaError_t cudaPeekAtLastError(void);
CAUSEWAY_EMULATOR_API const char* cudaGetErrorName(cudaError_t error);
CAUSEWAY_EMULATOR_API const char* cudaGetErrorString(cudaError_t error);

// ---- devices
CAUSEWAY_EMULATOR_API cudaError_t cudaGetDeviceCount(int* count);
CAUSEWAY_EMULATOR_API cudaError_t cudaSetDevice(int device);
CAUSEWAY_EMULATOR_API cudaError_t cudaGetDevice(int* device);
CAUSEWAY_EMULATOR_API cudaError_t cudaInitDevice(int device, unsigned int deviceFlags, unsigned int flags);
CAUSEWAY_EMULATOR_API cudaError_t cudaSetDeviceFlags(unsigned int flags);
CAUSEWAY_EMULATOR_API cudaError_t cudaGetDeviceFlags(unsigned int* flags);
CAUSEWAY_EMULATOR_API cudaError_t cudaGetDeviceProperties(cudaDeviceProp* prop, int device);
CAUSEWAY_EMULATOR_API cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp* prop);
CAUSEWAY_EMULATOR_API cudaError_t cudaDeviceGetAttribute(int* value, enum cudaDeviceAttr attr, int device);
CAUSEWAY_EMULATOR_API cudaError_t cudaDeviceGetP2PAttribute(int* value, enum cudaDeviceP2PAttr attr, int srcDevice,
                                                            int dstDevice);
CAUSEWAY_EMULATOR_API cudaError_t cudaDeviceGetPCIBusId(char* pciBusId, int len, int device);
CAUSEWAY_EMULATOR_API cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* pciBusId);
CAUSEWAY_EMULATOR_API cudaError_t cudaDeviceCanAccessPeer(int* canAccessPeer, int device, int peerDevice);
CAUSEWAY_EMULATOR_API cudaError_t cudaDeviceEnablePeerAccess(int peerDevice, unsigned int flags);
CAUSEWAY_EMULATOR_API cudaError_t cudaDeviceDisablePeerAccess(int peerDevice);
CAUSEWAY_EMULATOR_API cudaError_t cudaDeviceSynchronize(void);
CAUSEWAY_EMULATOR_API cudaError_t cudaDeviceReset(void);
CAUSEWAY_EMULATOR_API cudaError_t cudaDeviceGetLimit(size_t* value, enum cudaLimit limit);
CAUSEWAY_EMULATOR_API cudaError_t cudaDeviceSetLimit(enum cudaLimit limit, size_t value);
CAUSEWAY_EMULATOR_API cudaError_t cudaDeviceGetCacheConfig(enum cudaFuncCache* config);
CAUSEWAY_EMULATOR_API cudaError_t cudaDeviceSetCacheConfig(enum cudaFuncCache config);
CAUSEWAY_EMULATOR_API cudaError_t cudaDeviceGetStreamPriorityRange(int* leastPriority, int* greatestPriority);
CAUSEWAY_EMULATOR_API cudaError_t cudaDriverGetVersion(int* version);
CAUSEWAY_EMULATOR_API cudaError_t cudaRuntimeGetVersion(int* version);

// ---- memory
CAUSEWAY_EMULATOR_API cudaError_t cudaMalloc(void** pointer, size_t size);
CAUSEWAY_EMULATOR_API cudaError_t cudaMallocPitch(void** pointer, size_t* pitch, size_t width, size_t height);
CAUSEWAY_EMULATOR_API cudaError_t cudaMallocAsync(void** pointer, size_t size, cudaStream_t stream);
CAUSEWAY_EMULATOR_API cudaError_t cudaFree(void* pointer);
CAUSEWAY_EMULATOR_API cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream);
CAUSEWAY_EMULATOR_API cudaError_t cudaMallocHost(void** pointer, size_t size);
CAUSEWAY_EMULATOR_API cudaError_t cudaHostAlloc(void** pointer, size_t size, unsigned int flags);
CAUSEWAY_EMULATOR_API cudaError_t cudaFreeHost(void* pointer);
CAUSEWAY_EMULATOR_API cudaError_t cudaMallocManaged(void** pointer, size_t size,
                                                    unsigned int flags = cudaMemAttachGlobal);
CAUSEWAY_EMULATOR_API cudaError_t cudaHostRegister(void* pointer, size_t size, unsigned int flags);
CAUSEWAY_EMULATOR_API cudaError_t cudaHostUnregister(void* pointer);
CAUSEWAY_EMULATOR_API cudaError_t cudaHostGetDevicePointer(void** devicePointer, void* hostPointer, unsigned int flags);
CAUSEWAY_EMULATOR_API cudaError_t cudaHostGetFlags(unsigned int* flags, void* hostPointer);
CAUSEWAY_EMULATOR_API cudaError_t cudaMemGetInfo(size_t* free, size_t* total);
CAUSEWAY_EMULATOR_API cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer);
CAUSEWAY_EMULATOR_API cudaError_t cudaMemAdvise(const void* pointer, size_t count, enum cudaMemoryAdvise advice,
                                                int device);
CAUSEWAY_EMULATOR_API cudaError_t cudaMemPrefetchAsync(const void* pointer, size_t count, int dstDevice,
                                                       cudaStream_t stream = 0);
CAUSEWAY_EMULATOR_API cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t* handle, void* pointer);
CAUSEWAY_EMULATOR_API cudaError_t cudaIpcOpenMemHandle(void** pointer, cudaIpcMemHandle_t handle, unsigned int flags);
CAUSEWAY_EMULATOR_API cudaError_t cudaIpcCloseMemHandle(void* pointer);

// ---- copies
CAUSEWAY_EMULATOR_API cudaError_t cudaMemcpy(void* dst, const void* src, size_t count, enum cudaMemcpyKind kind);
CAUSEWAY_EMULATOR_API cudaError_t cudaMemcpyAsync(void* dst, const void* src, size_t count, enum cudaMemcpyKind kind,
                                                  cudaStream_t stream = 0);
CAUSEWAY_EMULATOR_API cudaError_t cudaMemcpyPeer(void* dst, int dstDevice, const void* src, int srcDevice,
                                                 size_t count);
CAUSEWAY_EMULATOR_API cudaError_t cudaMemcpyPeerAsync(void* dst, int dstDevice, const void* src, int srcDevice,
                                                      size_t count, cudaStream_t stream = 0);
CAUSEWAY_EMULATOR_API cudaError_t cudaMemcpy2D(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width,
                                               size_t height, enum cudaMemcpyKind kind);
CAUSEWAY_EMULATOR_API cudaError_t cudaMemcpy2DAsync(void* dst, size_t dpitch, const void* src, size_t spitch,
                                                    size_t width, size_t height, enum cudaMemcpyKind kind,
                                                    cudaStream_t stream = 0);
CAUSEWAY_EMULATOR_API cudaError_t cudaMemset(void* pointer, int value, size_t count);
CAUSEWAY_EMULATOR_API cudaError_t cudaMemsetAsync(void* pointer, int value, size_t count, cudaStream_t stream = 0);
CAUSEWAY_EMULATOR_API cudaError_t cudaMemset2D(void* pointer, size_t pitch, int value, size_t width, size_t height);
CAUSEWAY_EMULATOR_API cudaError_t cudaMemset2DAsync(void* pointer, size_t pitch, int value, size_t width, size_t height,
                                                    cudaStream_t stream = 0);
CAUSEWAY_EMULATOR_API cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* src, size_t count,
                                                     size_t offset = 0,
                                                     enum cudaMemcpyKind kind = cudaMemcpyHostToDevice);
CAUSEWAY_EMULATOR_API cudaError_t cudaMemcpyFromSymbol(void* dst, const void* symbol, size_t count, size_t offset = 0,
                                                       enum cudaMemcpyKind kind = cudaMemcpyDeviceToHost);
CAUSEWAY_EMULATOR_API cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* src, size_t count,
                                                          size_t offset, enum cudaMemcpyKind kind,
                                                          cudaStream_t stream = 0);
CAUSEWAY_EMULATOR_API cudaError_t cudaMemcpyFromSymbolAsync(void* dst, const void* symbol, size_t count, size_t offset,
                                                            enum cudaMemcpyKind kind, cudaStream_t stream = 0);
CAUSEWAY_EMULATOR_API cudaError_t cudaGetSymbolAddress(void** pointer, const void* symbol);

// ---- streams
CAUSEWAY_EMULATOR_API cudaError_t cudaStreamCreate(cudaStream_t* stream);
CAUSEWAY_EMULATOR_API cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned int flags);
CAUSEWAY_EMULATOR_API cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned int flags, int priority);
CAUSEWAY_EMULATOR_API cudaError_t cudaStreamDestroy(cudaStream_t stream);
CAUSEWAY_EMULATOR_API cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned int* flags);
CAUSEWAY_EMULATOR_API cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority);
CAUSEWAY_EMULATOR_API cudaError_t cudaStreamQuery(cudaStream_t stream);
CAUSEWAY_EMULATOR_API cudaError_t cudaStreamSynchronize(cudaStream_t stream);
CAUSEWAY_EMULATOR_API cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags = 0);
CAUSEWAY_EMULATOR_API cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback,
                                                        void* userData, unsigned int flags);
CAUSEWAY_EMULATOR_API cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* userData);

// ---- events
CAUSEWAY_EMULATOR_API cudaError_t cudaEventCreate(cudaEvent_t* event);
CAUSEWAY_EMULATOR_API cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned int flags);
CAUSEWAY_EMULATOR_API cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = 0);
CAUSEWAY_EMULATOR_API cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream = 0,
                                                           unsigned int flags = 0);
CAUSEWAY_EMULATOR_API cudaError_t cudaEventQuery(cudaEvent_t event);
CAUSEWAY_EMULATOR_API cudaError_t cudaEventSynchronize(cudaEvent_t event);
CAUSEWAY_EMULATOR_API cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end);
CAUSEWAY_EMULATOR_API cudaError_t cudaEventDestroy(cudaEvent_t event);

// ---- capture and graphs
CAUSEWAY_EMULATOR_API cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode);
CAUSEWAY_EMULATOR_API cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph);
CAUSEWAY_EMULATOR_API cudaError_t cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus* status);
CAUSEWAY_EMULATOR_API cudaError_t cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode* mode);
CAUSEWAY_EMULATOR_API cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph,
                                                       unsigned long long flags = 0);
CAUSEWAY_EMULATOR_API cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* exec, cudaGraph_t graph,
                                                                unsigned long long flags = 0);
CAUSEWAY_EMULATOR_API cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream);
CAUSEWAY_EMULATOR_API cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream);
CAUSEWAY_EMULATOR_API cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec);
CAUSEWAY_EMULATOR_API cudaError_t cudaGraphDestroy(cudaGraph_t graph);

// ---- kernels by address
CAUSEWAY_EMULATOR_API cudaError_t cudaLaunchKernel(const void* function, dim3 gridDim, dim3 blockDim, void** args,
                                                   size_t sharedMem, cudaStream_t stream);
CAUSEWAY_EMULATOR_API cudaError_t cudaLaunchCooperativeKernel(const void* function, dim3 gridDim, dim3 blockDim,
                                                              void** args, size_t sharedMem, cudaStream_t stream);
CAUSEWAY_EMULATOR_API cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* function,
                                                      void** args);
CAUSEWAY_EMULATOR_API cudaError_t cudaFuncSetAttribute(const void* function, enum cudaFuncAttribute attr, int value);
CAUSEWAY_EMULATOR_API cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* function);
CAUSEWAY_EMULATOR_API cudaError_t cudaFuncSetCacheConfig(const void* function, enum cudaFuncCache config);
CAUSEWAY_EMULATOR_API cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function,
                                                                                int blockSize,
                                                                                size_t dynamicSharedBytes);
CAUSEWAY_EMULATOR_API cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int* blocks, const void* function, int blockSize, size_t dynamicSharedBytes, unsigned int flags);

// ---- profiler: there is none to start, and asking is no error
CAUSEWAY_EMULATOR_API cudaError_t cudaProfilerStart(void);
CAUSEWAY_EMULATOR_API cudaError_t cudaProfilerStop(void);

}  // extern "C"
