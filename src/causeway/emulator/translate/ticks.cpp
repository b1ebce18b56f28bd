// Emulated threads take turns, so a thread that waits in a loop for another one must give way. Library calls do that
// themselves; plain loops on a volatile variable do not, so they get a tick:
//
//   while (*flag != 1) S;     becomes     while (*flag != 1) if (tick(); false) {} else S;
//
// The else takes exactly the loop's statement, whatever it is. Loops that wait are while, do and for without a
// condition or an increment; a counted for ends by itself and keeps its speed. A constexpr function cannot wait.
#include <causeway/emulator/translate/functions.hpp>
#include <causeway/emulator/translate/rules.hpp>
#include <causeway/emulator/translate/statements.hpp>
#include <causeway/emulator/translate/unit.hpp>

#include <set>
#include <string>

namespace causeway::translate {
namespace {

// for (;;), for (;c;), for (;;i++), but neither a counted loop nor one over a range.
bool may_wait(const Unit& unit, std::size_t open) {
  const std::size_t close = unit.partner(open);
  std::size_t first = none, second = none;
  for (std::size_t i = open + 1; i < close; ++i) {
    if (unit.is_any(i, {"(", "[", "{"})) i = unit.partner(i);
    if (unit.is(i, ";")) (first == none ? first : second) = i;
  }
  return second != none && (second == first + 1 || second + 1 == close);
}

}  // namespace

void insert_ticks(Unit& unit, const Functions& functions) {
  const std::string tick = " if(" + std::string(runtime_namespace) + "tick();false){}else";
  std::set<std::size_t> ends_of_do;  // the `while` of do-while: the loop has its tick at the do
  for (std::size_t i = 0; i < unit.size(); ++i) {
    if (!unit.is_any(i, {"while", "for", "do"})) continue;
    const Function* function = functions.device_function_at(i);
    if (!function || function->is_constexpr || ends_of_do.contains(i)) continue;
    if (unit.is(i, "do")) {
      ends_of_do.insert(statement_end(unit, i + 1) + 1);
      unit.insert_after(i, tick);
    } else if (unit.is(i + 1, "(") && (unit.is(i, "while") || may_wait(unit, i + 1))) {
      unit.insert_after(unit.partner(i + 1), tick);
    }
  }
}

}  // namespace causeway::translate
