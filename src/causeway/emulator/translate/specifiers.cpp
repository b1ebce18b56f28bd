// Words of CUDA that say where a function runs or a variable lives: on the emulator everything is host memory and
// every function a host function, so the words go. By now Functions has read what they said.
#include <causeway/emulator/translate/functions.hpp>
#include <causeway/emulator/translate/rules.hpp>
#include <causeway/emulator/translate/statements.hpp>
#include <causeway/emulator/translate/unit.hpp>
#include <causeway/emulator/translate/words.hpp>

namespace causeway::translate {
namespace {

// __attribute__((__noinline__)) is the compiler's word, not CUDA's.
bool in_attribute(const Unit& unit, std::size_t i) {
  const std::size_t inner = unit.parent(i);
  if (inner == none || unit.is(i - 1, "::")) return inner != none;
  const std::size_t outer = unit.parent(inner);
  return outer != none && outer > 0 && unit.is_any(outer - 1, {"__attribute__", "__attribute"});
}

// __forceinline__ implies inline, and a second inline is an error.
bool is_inline_already(const Unit& unit, std::size_t i) {
  for (std::size_t j = statement_begin(unit, i); j < unit.size(); ++j) {
    if (j != i && unit.is_any(j, {"inline", "__inline__", "__inline"})) return true;
    if (j < i && unit.is(j, "__forceinline__")) return true;
    if (j > i && unit.is_any(j, {"(", "{", ";", "="})) return false;
  }
  return false;
}

}  // namespace

void drop_specifiers(Unit& unit) {
  for (std::size_t i = 0; i < unit.size(); ++i) {
    const std::string_view word = unit[i].text;
    if (!word.starts_with("__") || unit[i].kind != TokenKind::word) continue;
    if (word == "__align__" && unit.is(i + 1, "(")) {
      // What nvcc's own header makes of it. alignas would be refused in some positions where the attribute may stand.
      unit.replace(i, "__attribute__((aligned");
      unit.insert_after(unit.partner(i + 1), "))");
    } else if (is_launch_attribute(word) && unit.is(i + 1, "(")) {
      unit.drop(i, unit.partner(i + 1));
    } else if (is_specifier(word) && !in_attribute(unit, i)) {
      // A lambda cannot be declared inline: [=] __device__ __forceinline__ (...) {...}
      const bool needs_inline = word == "__forceinline__" && !is_inline_already(unit, i) && !after_captures(unit, i);
      unit.replace(i, needs_inline ? "inline" : " ");
    }
  }
}

}  // namespace causeway::translate
