// Finding the program that `causeway run` is to start.
#pragma once
#include <string>

namespace causeway {

/// The path of an executable file: `program` itself when it has a slash, else the first one of that name in PATH.
/// Throws RunError: 127 when there is none, 2 when it cannot be executed.
[[nodiscard]] std::string find_program(const std::string& program);

/// What is said of a program that was found and yet did not start; `cause`: errno of exec.
[[nodiscard]] std::string not_executed(const std::string& path, int cause);

}  // namespace causeway
