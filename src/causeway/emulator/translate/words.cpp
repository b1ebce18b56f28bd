#include <causeway/emulator/translate/words.hpp>

#include <algorithm>
#include <initializer_list>

namespace causeway::translate {
namespace {

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace

bool is_specifier(std::string_view word) {
  if (!word.starts_with("__")) return false;
  return is_one_of(word, {"__global__", "__device__", "__host__", "__constant__", "__managed__", "__grid_constant__",
                          "__forceinline__", "__noinline__", "__inline_hint__", "__nv_pure__"});
}

bool is_launch_attribute(std::string_view word) {
  if (!word.starts_with("__")) return false;
  return is_one_of(word, {"__launch_bounds__", "__cluster_dims__", "__maxnreg__", "__block_size__"});
}

bool takes_arguments_as_attribute(std::string_view word) {
  return is_launch_attribute(word) ||
         is_one_of(word, {"__align__", "__attribute__", "__attribute", "alignas", "decltype", "__typeof__", "typeof",
                          "noexcept", "explicit", "requires"});
}

bool precedes_expression(std::string_view word) {
  return is_one_of(word, {"return", "case", "else", "do", "sizeof", "throw", "and", "or", "not", "co_return",
                          "co_yield", "co_await", "new", "delete", "goto", "alignof", "xor", "bitand", "bitor"});
}

bool opens_statement(std::string_view word) { return is_one_of(word, {"if", "while", "for", "switch", "catch"}); }

}  // namespace causeway::translate
