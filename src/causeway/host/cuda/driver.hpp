// The CUDA driver's functions, looked up when first needed: the library starts on a machine without a driver and says
// so.
#pragma once
#include <cuda.h>
#include <cuda_runtime_api.h>

#include <string>

namespace causeway::cuda {

/// What the heap needs of the driver.
struct Driver {
  CUresult (*get_error_string)(CUresult, const char**);
  CUresult (*get_current_context)(CUcontext*);
  CUresult (*reserve)(CUdeviceptr*, size_t bytes, size_t alignment, CUdeviceptr at, unsigned long long flags);
  CUresult (*release_address)(CUdeviceptr, size_t bytes);
  CUresult (*create)(CUmemGenericAllocationHandle*, size_t bytes, const CUmemAllocationProp*, unsigned long long flags);
  CUresult (*release)(CUmemGenericAllocationHandle);
  CUresult (*map)(CUdeviceptr, size_t bytes, size_t offset, CUmemGenericAllocationHandle, unsigned long long flags);
  CUresult (*unmap)(CUdeviceptr, size_t bytes);
  CUresult (*set_access)(CUdeviceptr, size_t bytes, const CUmemAccessDesc*, size_t count);
  CUresult (*export_handle)(void* handle, CUmemGenericAllocationHandle, CUmemAllocationHandleType,
                            unsigned long long flags);
  CUresult (*import_handle)(CUmemGenericAllocationHandle*, void* handle, CUmemAllocationHandleType);
  CUresult (*address_range)(CUdeviceptr* begin, size_t* bytes, CUdeviceptr);
  CUresult (*retain_handle)(CUmemGenericAllocationHandle*, void*);
  CUresult (*granularity)(size_t*, const CUmemAllocationProp*, CUmemAllocationGranularity_flags);
};

/// Throws Error(gpu_not_selected) if there is no driver or it lacks a function.
const Driver& driver();
/// True if a driver is there, without loading anything when it is not.
bool driver_present();

/// Throw Error with `what` and the call's own text unless it succeeded.
void check(CUresult, const char* what);
void check(cudaError_t, const char* what);

}  // namespace causeway::cuda
