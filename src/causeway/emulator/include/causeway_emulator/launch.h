// How a kernel call becomes a launch. The translator turns `k<<<g, b, s, st>>>(args)` into
// `(configure(g, b, s, st), k(args))` and the kernel's body into `enter([=]() mutable {...})`: the call then does
// overload resolution, deduction, default arguments and conversions as for any function, and `enter` finds the
// configuration.
#pragma once
#include <memory>
#include <type_traits>
#include <utility>

#include "launch_types.h"

namespace causeway::emulator {

/// A kernel's body with its arguments bound; run() is called by every GPU thread.
class KernelBody {
 public:
  virtual ~KernelBody() = default;
  virtual void run() = 0;
};

/// Sets the shape of the next kernel called on this host thread. Configurations nest: an argument may launch as well.
CAUSEWAY_EMULATOR_API void configure(dim3 grid, dim3 block, size_t shared = 0, cudaStream_t stream = nullptr);
CAUSEWAY_EMULATOR_API void configure_cooperative(dim3 grid, dim3 block, size_t shared, cudaStream_t stream);
/// The same from cudaLaunchKernelEx's record; its attributes are read.
CAUSEWAY_EMULATOR_API cudaError_t configure_from(const cudaLaunchConfig_t* config);
/// True if a configuration waits for its kernel.
CAUSEWAY_EMULATOR_API bool launch_pending();
/// Launches with the waiting configuration. An error is remembered for launch_result and cudaGetLastError.
CAUSEWAY_EMULATOR_API void launch(std::unique_ptr<KernelBody> body);
/// The result of the kernel call that followed the latest configure; cudaErrorInvalidDeviceFunction if what was called
/// was no kernel.
CAUSEWAY_EMULATOR_API cudaError_t launch_result();

/// Calls a kernel by address with arguments as cudaLaunchKernel takes them.
using Thunk = void (*)(const void* function, void** args);
CAUSEWAY_EMULATOR_API void register_kernel(const void* function, Thunk thunk, unsigned parameters);

template <class Body>
class BoundKernel final : public KernelBody {
 public:
  explicit BoundKernel(Body&& body) : body_(std::move(body)) {}
  void run() override {
    Body mine(body_);  // parameters are variables of each GPU thread
    mine();
  }

 private:
  Body body_;
};

/// A kernel's body: launches it if a configuration waits, else runs it here and now.
template <class Body>
inline void enter(Body body) {
  if (__builtin_expect(launch_pending(), 1)) {
    launch(std::make_unique<BoundKernel<Body>>(std::move(body)));
  } else {
    body();
  }
}

/// args[i] points to the argument. For a reference parameter it points to a pointer to the referent.
template <class Parameter>
decltype(auto) argument(void* slot) {
  if constexpr (std::is_reference_v<Parameter>) {
    return static_cast<Parameter>(**static_cast<std::remove_reference_t<Parameter>**>(slot));
  } else {
    return static_cast<std::remove_cv_t<Parameter>&>(*static_cast<std::remove_cv_t<Parameter>*>(slot));
  }
}

template <class... Parameters, size_t... I>
void call_with(void (*function)(Parameters...), [[maybe_unused]] void** args, std::index_sequence<I...>) {
  function(argument<Parameters>(args[I])...);
}

/// A kernel's name used as a value: makes the address launchable by cudaLaunchKernel and its like.
template <class... Parameters>
auto kernel_handle(void (*function)(Parameters...)) -> void (*)(Parameters...) {
  register_kernel(
      reinterpret_cast<const void*>(function),
      [](const void* address, void** args) {
        call_with(reinterpret_cast<void (*)(Parameters...)>(const_cast<void*>(address)), args,
                  std::index_sequence_for<Parameters...>{});
      },
      sizeof...(Parameters));
  return function;
}
/// Names that only look like a kernel's pass through.
template <class T, std::enable_if_t<!std::is_function_v<std::remove_pointer_t<std::decay_t<T>>>, int> = 0>
constexpr T&& kernel_handle(T&& value) {
  return static_cast<T&&>(value);
}

}  // namespace causeway::emulator
