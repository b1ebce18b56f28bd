// Kernel launches: configurations that wait for their kernel, and kernels called by address.
#include <causeway/emulator/runtime/kernels.hpp>
#include <causeway/emulator/runtime/streams.hpp>
#include <causeway/machine/cpu/context.hpp>
#include <causeway_emulator/launch.h>

#include <vector>

namespace causeway::emulator {
namespace {

struct Configuration {
  dim3 grid, block;
  size_t shared = 0;
  cudaStream_t stream = nullptr;
  bool cooperative = false;
};

struct LaunchState {
  std::vector<Configuration> waiting;
  bool launched = true;  // since the latest configure
  cudaError_t result = cudaSuccess;
};

LaunchState& state() {
  thread_local LaunchState mine;
  return mine;
}

void push(const Configuration& configuration) {
  state().waiting.push_back(configuration);
  state().launched = false;
}

class BodyKernel final : public cpu::Kernel {
 public:
  explicit BodyKernel(std::unique_ptr<KernelBody> body) : body_(std::move(body)) {}
  void run() override { body_->run(); }

 private:
  std::unique_ptr<KernelBody> body_;
};

cudaError_t error_of(cpu::LaunchStatus status) {
  switch (status) {
    case cpu::LaunchStatus::success:
      return cudaSuccess;
    case cpu::LaunchStatus::bad_shape:
      return cudaErrorInvalidConfiguration;
    case cpu::LaunchStatus::too_many_cooperative_blocks:
      return cudaErrorCooperativeLaunchTooLarge;
    case cpu::LaunchStatus::too_much_shared:
      return cudaErrorInvalidValue;
    case cpu::LaunchStatus::device_failed:
      return cudaErrorLaunchFailure;
  }
  return cudaErrorUnknown;
}

cpu::Index3 index(const dim3& size) { return {size.x, size.y, size.z}; }

cudaError_t launch_by_address(const void* function, const Configuration& configuration, void** args) {
  const KernelInfo kernel = kernels().find(function);
  refuse_if(configuration.shared > kernel.dynamic_shared_max, cudaErrorInvalidValue);
  refuse_if(!args && kernel.parameters > 0, cudaErrorInvalidValue);
  push(configuration);
  kernel.thunk(function, args);
  return launch_result();
}

}  // namespace

void configure(dim3 grid, dim3 block, size_t shared, cudaStream_t stream) {
  push({grid, block, shared, stream, false});
}
void configure_cooperative(dim3 grid, dim3 block, size_t shared, cudaStream_t stream) {
  push({grid, block, shared, stream, true});
}

cudaError_t configure_from(const cudaLaunchConfig_t* config) {
  return host_call([&] {
    refuse_if(!config || (config->numAttrs > 0 && !config->attrs), cudaErrorInvalidValue);
    Configuration configuration{config->gridDim, config->blockDim, config->dynamicSmemBytes, config->stream, false};
    for (unsigned i = 0; i < config->numAttrs; ++i)
      if (config->attrs[i].id == cudaLaunchAttributeCooperative)
        configuration.cooperative = config->attrs[i].val.cooperative != 0;
    push(configuration);
  });
}

bool launch_pending() { return !state().waiting.empty(); }

void launch(std::unique_ptr<KernelBody> body) {
  LaunchState& mine = state();
  const Configuration configuration = mine.waiting.back();
  mine.waiting.pop_back();
  mine.launched = true;
  mine.result = device_call([&] {
    cpu::Stream* stream = stream_of(configuration.stream);
    const cpu::LaunchShape shape{index(configuration.grid), index(configuration.block), configuration.shared,
                                 configuration.cooperative};
    return error_of(cpu::device().launch(stream, shape, std::make_shared<BodyKernel>(std::move(body))));
  });
}

cudaError_t launch_result() {
  LaunchState& mine = state();
  if (mine.launched) return mine.result;
  mine.waiting.pop_back();  // what was called was no kernel; nothing else may take its configuration
  mine.launched = true;
  return remember(cudaErrorInvalidDeviceFunction);
}

}  // namespace causeway::emulator

using namespace causeway::emulator;

cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** args, size_t shared,
                             cudaStream_t stream) {
  return host_call([&] { return launch_by_address(function, {grid, block, shared, stream, false}, args); });
}

cudaError_t cudaLaunchCooperativeKernel(const void* function, dim3 grid, dim3 block, void** args, size_t shared,
                                        cudaStream_t stream) {
  return host_call([&] { return launch_by_address(function, {grid, block, shared, stream, true}, args); });
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* function, void** args) {
  return host_call([&] {
    const cudaError_t bad = configure_from(config);
    if (bad != cudaSuccess) return bad;
    const Configuration configuration = state().waiting.back();
    state().waiting.pop_back();
    return launch_by_address(function, configuration, args);
  });
}
