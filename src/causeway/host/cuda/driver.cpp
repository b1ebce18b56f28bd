#include <causeway/host/cuda/driver.hpp>
#include <causeway/base/error.hpp>

namespace causeway::cuda {
namespace {

template <class Function>
void look_up(Function& function, const char* name) {
  void* address = nullptr;
  cudaDriverEntryPointQueryResult found{};
#if CUDART_VERSION >= 13000
  const cudaError_t status = cudaGetDriverEntryPointByVersion(name, &address, 12000, cudaEnableDefault, &found);
#else
  const cudaError_t status = cudaGetDriverEntryPoint(name, &address, cudaEnableDefault, &found);
#endif
  if (status != cudaSuccess || found != cudaDriverEntryPointSuccess || !address)
    fail(Status::gpu_not_selected, "the CUDA driver has no {}: {}", name,
         status != cudaSuccess ? cudaGetErrorString(status) : "too old");
  function = reinterpret_cast<Function>(address);
}

Driver load() {
  int version = 0;
  const cudaError_t status = cudaDriverGetVersion(&version);
  if (status != cudaSuccess || version == 0)
    fail(
        Status::gpu_not_selected,
        "no CUDA driver on this machine ({}): run the program on a machine with an NVIDIA GPU, or build it for the CPU "
        "machine with `causeway cc --machine cpu`",
        status == cudaSuccess ? "libcuda.so.1 cannot be loaded" : cudaGetErrorString(status));
  Driver found{};
  look_up(found.get_error_string, "cuGetErrorString");
  look_up(found.get_current_context, "cuCtxGetCurrent");
  look_up(found.reserve, "cuMemAddressReserve");
  look_up(found.release_address, "cuMemAddressFree");
  look_up(found.create, "cuMemCreate");
  look_up(found.release, "cuMemRelease");
  look_up(found.map, "cuMemMap");
  look_up(found.unmap, "cuMemUnmap");
  look_up(found.set_access, "cuMemSetAccess");
  look_up(found.export_handle, "cuMemExportToShareableHandle");
  look_up(found.import_handle, "cuMemImportFromShareableHandle");
  look_up(found.address_range, "cuMemGetAddressRange");
  look_up(found.retain_handle, "cuMemRetainAllocationHandle");
  look_up(found.granularity, "cuMemGetAllocationGranularity");
  return found;
}

}  // namespace

const Driver& driver() {
  static const Driver found = load();
  return found;
}

bool driver_present() {
  int version = 0;
  return cudaDriverGetVersion(&version) == cudaSuccess && version != 0;
}

void check(CUresult status, const char* what) {
  if (status == CUDA_SUCCESS) return;
  const char* text = nullptr;
  driver().get_error_string(status, &text);
  fail(status == CUDA_ERROR_OUT_OF_MEMORY ? Status::out_of_memory : Status::internal, "{}: {} (CUDA driver error {})",
       what, text ? text : "unknown error", int(status));
}

void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  cudaGetLastError();
  fail(status == cudaErrorMemoryAllocation ? Status::out_of_memory : Status::internal, "{}: {} (CUDA error {})", what,
       cudaGetErrorString(status), int(status));
}

}  // namespace causeway::cuda
