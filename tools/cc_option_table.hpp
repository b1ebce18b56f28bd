// One row an option: its name, whether it takes a value, and what it does.
#pragma once
#include <tools/cc_options.hpp>

#include <string>
#include <string_view>

namespace causeway::cc {

enum class Takes {
  nothing,
  value,        ///< -name value, -name=value
  glued_value,  ///< -Dvalue, -D value
};

struct OptionRow {
  std::string_view name;  ///< without dashes
  Takes value;
  void (*apply)(Options&, const std::string& value);
  bool own = false;  ///< not nvcc's
};

/// nullptr if there is none.
const OptionRow* find_option(std::string_view name);

/// Hands an option to the host compiler.
void add_compile_flag(Options& options, const std::string& flag);

/// Whether the path names a library of NVSHMEM or CUDA that libcauseway_cpu.so stands for.
bool is_replaced_library_file(const std::string& path);

}  // namespace causeway::cc
