// What the machine says about itself.
#pragma once
#include <cuda_runtime_api.h>

#include <optional>
#include <string>

namespace causeway::emulator {

/// Properties of a valid device number.
cudaDeviceProp device_properties(int device);
/// An attribute by its number, which runtime and driver interface share; nothing for an unknown one.
std::optional<int> device_attribute(int number, int device);
std::string pci_bus_id(int device);

inline constexpr const char* kDeviceName = "Causeway CPU machine (H200 model)";
inline constexpr int kVersion = CUDART_VERSION;

}  // namespace causeway::emulator
