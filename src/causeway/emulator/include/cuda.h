// Stand-in for CUDA's header of this name: the part of the driver interface that works on the CPU machine.
#pragma once
#include "causeway_emulator/driver_api_types.h"

extern "C" {

// ---- errors, versions
CAUSEWAY_EMULATOR_API CUresult cuInit(unsigned int flags);
CAUSEWAY_EMULATOR_API CUresult cuDriverGetVersion(int* version);
CAUSEWAY_EMULATOR_API CUresult cuGetErrorName(CUresult error, const char** text);
CAUSEWAY_EMULATOR_API CUresult cuGetErrorString(CUresult error, const char** text);

// ---- devices
CAUSEWAY_EMULATOR_API CUresult cuDeviceGet(CUdevice* device, int ordinal);
CAUSEWAY_EMULATOR_API CUresult cuDeviceGetCount(int* count);
CAUSEWAY_EMULATOR_API CUresult cuDeviceGetName(char* name, int length, CUdevice device);
CAUSEWAY_EMULATOR_API CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device);
CAUSEWAY_EMULATOR_API CUresult cuDeviceTotalMem(size_t* bytes, CUdevice device);
CAUSEWAY_EMULATOR_API CUresult cuDeviceCanAccessPeer(int* can, CUdevice device, CUdevice peer);

// ---- contexts: every device has its primary one, and no other can be made
CAUSEWAY_EMULATOR_API CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device);
CAUSEWAY_EMULATOR_API CUresult cuDevicePrimaryCtxRelease(CUdevice device);
CAUSEWAY_EMULATOR_API CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned int* flags, int* active);
CAUSEWAY_EMULATOR_API CUresult cuCtxGetCurrent(CUcontext* context);
CAUSEWAY_EMULATOR_API CUresult cuCtxSetCurrent(CUcontext context);
CAUSEWAY_EMULATOR_API CUresult cuCtxPushCurrent(CUcontext context);
CAUSEWAY_EMULATOR_API CUresult cuCtxPopCurrent(CUcontext* context);
CAUSEWAY_EMULATOR_API CUresult cuCtxGetDevice(CUdevice* device);
CAUSEWAY_EMULATOR_API CUresult cuCtxSynchronize(void);

// ---- memory
CAUSEWAY_EMULATOR_API CUresult cuMemAlloc(CUdeviceptr* pointer, size_t bytes);
CAUSEWAY_EMULATOR_API CUresult cuMemFree(CUdeviceptr pointer);
CAUSEWAY_EMULATOR_API CUresult cuMemAllocHost(void** pointer, size_t bytes);
CAUSEWAY_EMULATOR_API CUresult cuMemFreeHost(void* pointer);
CAUSEWAY_EMULATOR_API CUresult cuMemGetInfo(size_t* free, size_t* total);
CAUSEWAY_EMULATOR_API CUresult cuMemGetAddressRange(CUdeviceptr* base, size_t* size, CUdeviceptr pointer);
CAUSEWAY_EMULATOR_API CUresult cuPointerGetAttribute(void* data, CUpointer_attribute attribute, CUdeviceptr pointer);
CAUSEWAY_EMULATOR_API CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes);
CAUSEWAY_EMULATOR_API CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream);
CAUSEWAY_EMULATOR_API CUresult cuMemcpyHtoD(CUdeviceptr to, const void* from, size_t bytes);
CAUSEWAY_EMULATOR_API CUresult cuMemcpyDtoH(void* to, CUdeviceptr from, size_t bytes);
CAUSEWAY_EMULATOR_API CUresult cuMemcpyDtoD(CUdeviceptr to, CUdeviceptr from, size_t bytes);
CAUSEWAY_EMULATOR_API CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void* from, size_t bytes, CUstream stream);
CAUSEWAY_EMULATOR_API CUresult cuMemcpyDtoHAsync(void* to, CUdeviceptr from, size_t bytes, CUstream stream);
CAUSEWAY_EMULATOR_API CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream);
CAUSEWAY_EMULATOR_API CUresult cuMemsetD8(CUdeviceptr pointer, unsigned char value, size_t count);
CAUSEWAY_EMULATOR_API CUresult cuMemsetD32(CUdeviceptr pointer, unsigned int value, size_t count);
CAUSEWAY_EMULATOR_API CUresult cuMemsetD8Async(CUdeviceptr pointer, unsigned char value, size_t count, CUstream stream);
CAUSEWAY_EMULATOR_API CUresult cuMemsetD32Async(CUdeviceptr pointer, unsigned int value, size_t count, CUstream stream);

// ---- streams and events
CAUSEWAY_EMULATOR_API CUresult cuStreamCreate(CUstream* stream, unsigned int flags);
CAUSEWAY_EMULATOR_API CUresult cuStreamDestroy(CUstream stream);
CAUSEWAY_EMULATOR_API CUresult cuStreamSynchronize(CUstream stream);
CAUSEWAY_EMULATOR_API CUresult cuStreamQuery(CUstream stream);
CAUSEWAY_EMULATOR_API CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned int flags);
CAUSEWAY_EMULATOR_API CUresult cuStreamWaitValue32(CUstream stream, CUdeviceptr address, unsigned int value,
                                                   unsigned int flags);
CAUSEWAY_EMULATOR_API CUresult cuStreamWaitValue64(CUstream stream, CUdeviceptr address, unsigned long long value,
                                                   unsigned int flags);
CAUSEWAY_EMULATOR_API CUresult cuStreamWriteValue32(CUstream stream, CUdeviceptr address, unsigned int value,
                                                    unsigned int flags);
CAUSEWAY_EMULATOR_API CUresult cuStreamWriteValue64(CUstream stream, CUdeviceptr address, unsigned long long value,
                                                    unsigned int flags);
CAUSEWAY_EMULATOR_API CUresult cuEventCreate(CUevent* event, unsigned int flags);
CAUSEWAY_EMULATOR_API CUresult cuEventDestroy(CUevent event);
CAUSEWAY_EMULATOR_API CUresult cuEventRecord(CUevent event, CUstream stream);
CAUSEWAY_EMULATOR_API CUresult cuEventSynchronize(CUevent event);
CAUSEWAY_EMULATOR_API CUresult cuEventQuery(CUevent event);
CAUSEWAY_EMULATOR_API CUresult cuEventElapsedTime(float* milliseconds, CUevent start, CUevent end);

}  // extern "C"
