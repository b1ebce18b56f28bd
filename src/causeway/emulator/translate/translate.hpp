// The translator's public face: CUDA C++ that went through a preprocessor becomes plain C++ for the emulator.
#pragma once
#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace causeway::translate {

struct TranslateOptions {
  /// Let device loops that may wait for another thread give way to it (see ticks.cpp).
  bool ticks = true;
};

/// What the translator throws for CUDA code that has no translation. what() is the text alone.
class TranslateError : public std::runtime_error {
 public:
  TranslateError(std::string file, std::size_t line, const std::string& text)
      : std::runtime_error(text), file_(std::move(file)), line_(line) {}
  [[nodiscard]] const std::string& file() const noexcept { return file_; }
  [[nodiscard]] std::size_t line() const noexcept { return line_; }

 private:
  std::string file_;
  std::size_t line_;
};

/// Translates the output of `g++ -E` or `clang++ -E`. Every newline and every line marker stays where it is, so that
/// diagnostics, debuggers and sanitizers show the lines of the user's file; text without a CUDA word comes out as it
/// went in. The result needs the emulator's runtime header, which declares the names in ::causeway::emulator.
std::string translate(std::string_view preprocessed, const TranslateOptions& options = {});

}  // namespace causeway::translate
