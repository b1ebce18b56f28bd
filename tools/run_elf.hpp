// Which shared libraries a program is linked to.
#pragma once
#include <string>
#include <vector>

namespace causeway {

/// The names in the dynamic section (DT_NEEDED) of a 64-bit ELF file, as "libcauseway.so.1". Empty for anything else: a
/// script, a static program, a damaged file.
[[nodiscard]] std::vector<std::string> needed_libraries(const std::string& path);

/// Is `name` in the list, with or without a version behind it ("libcauseway.so" in "libcauseway.so.1")?
[[nodiscard]] bool needs_library(const std::vector<std::string>& needed, const std::string& name);

}  // namespace causeway
