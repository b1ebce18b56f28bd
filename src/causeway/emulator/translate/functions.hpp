// Finds the functions that CUDA's specifiers mark, and so which text is device code.
#pragma once
#include <causeway/emulator/translate/unit.hpp>

#include <map>
#include <string_view>
#include <vector>

namespace causeway::translate {

/// A function or lambda declared with __global__, __device__ or __host__.
struct Function {
  std::size_t name = none;        ///< the declared name; none for operators and lambdas
  std::size_t parameters = none;  ///< the `(` of the parameter list; none for a lambda without one
  std::size_t body = none;        ///< the `{` of the body; none for a declaration
  bool kernel = false;
  bool device = false;  ///< device code: __global__ or __device__
  bool host = false;    ///< also, or only, host code
  bool is_constexpr = false;
  bool is_template = false;
};

/// Whether the specifier i stands after a lambda's captures: [=] __device__ (...) {...}
bool after_captures(const Unit& unit, std::size_t i);

class Functions {
 public:
  explicit Functions(const Unit& unit);

  [[nodiscard]] const std::vector<Function>& all() const { return functions_; }
  /// The device function whose parameters or body hold token i (the innermost one), or nullptr.
  [[nodiscard]] const Function* device_function_at(std::size_t i) const {
    return owner_[i] == none ? nullptr : &functions_[owner_[i]];
  }
  /// The declarations of kernels by their last name.
  [[nodiscard]] const std::multimap<std::string_view, std::size_t>& kernels() const { return kernels_; }
  [[nodiscard]] bool is_kernel_template(std::string_view name) const;

 private:
  std::vector<Function> functions_;
  std::vector<std::size_t> owner_;
  std::multimap<std::string_view, std::size_t> kernels_;
};

}  // namespace causeway::translate
