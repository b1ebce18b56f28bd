// A launch becomes the configuration and the call:
//
//   callee<<<grid, block, shared, stream>>>(args)
//   (::causeway::emulator::configure(grid, block, shared, stream), callee(args))
//
// The callee is the postfix expression before the <<<: ns::k<T>, object.k, (*pointer), table[i].
#include <causeway/emulator/translate/rules.hpp>
#include <causeway/emulator/translate/unit.hpp>
#include <causeway/emulator/translate/words.hpp>

#include <string>

namespace causeway::translate {
namespace {

// Whether the bracket after token i calls or subscripts what ends with token i.
bool ends_operand(const Unit& unit, std::size_t i) {
  if (unit.is_word(i)) return !precedes_expression(unit[i].text) && !opens_statement(unit[i].text);
  if (unit.is(i, ")")) {
    const std::size_t open = unit.partner(i);
    return open == 0 || !opens_statement(unit[open - 1].text);  // if (x) (*f)<<<...>>>()
  }
  return unit.is(i, "]");
}

std::size_t callee_begin(const Unit& unit, std::size_t i) {
  for (;;) {
    if (unit.is(i, ">")) {
      const std::size_t open = unit.open_angle(i);
      if (open == none || open == 0) return i;
      i = open - 1;
    } else if (unit.is_any(i, {")", "]"})) {
      i = unit.partner(i);
      if (i > 0 && ends_operand(unit, i - 1)) {
        --i;
        continue;
      }
    }
    if (unit.is(i - 1, "template")) --i;
    if (unit.is_any(i - 1, {".", "->"})) {
      i -= 2;
    } else if (unit.is(i - 1, "::")) {
      const bool global = !unit.is(i - 2, ">") && !(unit.is_word(i - 2) && !precedes_expression(unit[i - 2].text));
      if (global) return i - 1;
      i -= 2;
    } else {
      return i;
    }
  }
}

// The first `>` of the `>>>` that ends the configuration, or none.
std::size_t configuration_end(const Unit& unit, std::size_t first) {
  for (std::size_t i = first; i + 3 < unit.size() && !unit.is_any(i, {";", ")", "]", "}"}); ++i) {
    if (unit.is_any(i, {"(", "[", "{"})) i = unit.partner(i);
    const bool closes = unit.is(i, ">") && unit.is(i + 1, ">") && unit.is(i + 2, ">") && unit.is(i + 3, "(");
    if (closes && unit.is_glued(i + 1) && unit.is_glued(i + 2)) return i;
  }
  return none;
}

}  // namespace

void rewrite_launches(Unit& unit) {
  // From the end, so that a launch in another one's configuration is done when the outer one moves that.
  for (std::size_t open = unit.size(); open-- > 1;) {
    if (!unit.is(open, "<<<")) continue;
    const std::size_t end = configuration_end(unit, open + 1);
    if (end == none || end == open + 1)
      unit.fail(open, "a kernel launch reads kernel<<<grid, block[, shared bytes[, stream]]>>>(arguments): " +
                          std::string(end == none ? "this <<< has no >>>(" : "this one has no grid and block"));
    const std::string configuration = unit.on_one_line(open + 1, end - 1);
    const std::size_t begin = callee_begin(unit, open - 1);
    unit.drop(open, end + 2);
    unit.insert_before(begin, "(" + std::string(runtime_namespace) + "configure(" + configuration + "), ");
    unit.insert_after(unit.partner(end + 3), ")");
  }
}

}  // namespace causeway::translate
