// The words that the rules know.
#pragma once
#include <string_view>

namespace causeway::translate {

/// __global__, __device__ and the other words of CUDA that mark a declaration and take no argument.
bool is_specifier(std::string_view word);

/// __launch_bounds__(...) and its like: told to nvcc's optimizer or launcher, nothing to the emulator.
bool is_launch_attribute(std::string_view word);

/// Words after which a `(` does not open a function's parameters: attributes, decltype, noexcept and so on.
bool takes_arguments_as_attribute(std::string_view word);

/// Keywords after which an expression may stand, so that a name after them is used and not declared.
bool precedes_expression(std::string_view word);

/// if, while, for, switch, catch: what stands before the `(` of a statement.
bool opens_statement(std::string_view word);

}  // namespace causeway::translate
