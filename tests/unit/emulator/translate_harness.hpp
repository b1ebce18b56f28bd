// Translates CUDA text as `causeway cc` does and runs the result with a runtime of one thread, which these tests bring.
#pragma once
#include <string>
#include <string_view>

namespace causeway::translate::test {

/// The translation of `source` without preprocessing. Checks that it has as many lines as the source.
std::string translated(std::string_view source, bool ticks = true);

/// Preprocesses, translates, compiles with g++ and runs a program; checks that clang++, where there is one, accepts it,
/// too. Returns what it printed; a failure of a step is a test failure that shows the step's messages.
std::string output_of(std::string_view program);

/// The text of the TranslateError that translating `source` throws, as "file:line: text"; "none" if it throws none.
std::string error_of(std::string_view source);

/// What the preprocessor makes of `source`.
std::string preprocessed(std::string_view source);

}  // namespace causeway::translate::test
