#include <causeway/emulator/translate/statements.hpp>
#include <causeway/emulator/translate/words.hpp>

namespace causeway::translate {

std::size_t statement_begin(const Unit& unit, std::size_t i) {
  while (i > 0) {
    if (unit.is_any(i - 1, {";", "{", "}", "(", "[", ":"})) break;
    if (unit.is(i - 1, ")")) {
      // `if (x) __shared__ int y;` begins after the bracket, `alignas(16) __shared__ int y;` before the attribute.
      const std::size_t open = unit.partner(i - 1);
      if (open == 0 || open == i - 1 || !takes_arguments_as_attribute(unit[open - 1].text)) break;
      i = open;
    } else if (unit.is(i - 1, "]")) {
      i = unit.partner(i - 1);
    } else {
      --i;
    }
  }
  return i;
}

std::size_t statement_end(const Unit& unit, std::size_t i) {
  if (unit.is(i, "{")) return unit.partner(i);
  if (unit.is(i, "do")) {
    const std::size_t loop = statement_end(unit, i + 1) + 1;  // the `while`
    return loop + 1 < unit.size() ? unit.partner(loop + 1) + 1 : unit.size() - 1;
  }
  if (unit.is_word(i) && opens_statement(unit[i].text)) {
    std::size_t open = i + 1;
    while (open < unit.size() && !unit.is(open, "(")) ++open;  // if constexpr (
    if (open == unit.size()) return unit.size() - 1;
    const std::size_t end = statement_end(unit, unit.partner(open) + 1);
    return unit.is(i, "if") && unit.is(end + 1, "else") ? statement_end(unit, end + 2) : end;
  }
  for (; i < unit.size(); ++i) {
    if (unit.is_any(i, {"(", "[", "{"}))
      i = unit.partner(i);
    else if (unit.is_any(i, {";", ")", "]", "}"}))
      return i;
  }
  return unit.size() - 1;
}

}  // namespace causeway::translate
