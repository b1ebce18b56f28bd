// threadIdx, blockIdx, blockDim and gridDim become calls, in device code only: hosts have variables of these names
// (`dim3 gridDim(4)`), structures members, and a device function may have a parameter called so.
#include <causeway/emulator/translate/functions.hpp>
#include <causeway/emulator/translate/rules.hpp>
#include <causeway/emulator/translate/shadows.hpp>
#include <causeway/emulator/translate/unit.hpp>

#include <map>
#include <string>

namespace causeway::translate {

void replace_builtins(Unit& unit, const Functions& functions) {
  static const std::map<std::string_view, std::string_view> accessors = {
      {"threadIdx", "thread_index()"},
      {"blockIdx", "block_index()"},
      {"blockDim", "block_dim()"},
      {"gridDim", "grid_dim()"},
  };
  const Shadows shadows(unit, [](std::string_view word) { return accessors.contains(word); });
  for (std::size_t i = 0; i < unit.size(); ++i) {
    if (!unit.is_word(i) || !functions.device_function_at(i)) continue;
    const auto accessor = accessors.find(unit[i].text);
    if (accessor == accessors.end() || unit.is_any(i - 1, {".", "->", "::"})) continue;
    if (shadows.covers(i)) continue;
    unit.replace(i, std::string(runtime_namespace) + std::string(accessor->second));
  }
}

}  // namespace causeway::translate
