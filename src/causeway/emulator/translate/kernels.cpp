// A kernel definition becomes a function whose body hands the emulator a closure over the arguments:
//
//   __global__ void k(int n, int& last) { BODY }
//   void k(int n, int& last) { ::causeway::emulator::enter([=, &last]() mutable { BODY }); }
//
// So a launch is a call: overload resolution, template deduction, default arguments and conversions are the
// compiler's. Parameters need not be parsed, except that [=] would copy what a reference parameter refers to.
#include <causeway/emulator/translate/functions.hpp>
#include <causeway/emulator/translate/rules.hpp>
#include <causeway/emulator/translate/unit.hpp>

#include <string>

namespace causeway::translate {
namespace {

// What a lambda captures for the parameter of tokens [first, last): ", &name" for a named reference, else nothing.
std::string reference_capture(const Unit& unit, std::size_t first, std::size_t last) {
  for (std::size_t i = first; i < last; ++i) {
    if (unit.is(i, "=")) break;
    if (unit.is(i, "<"))
      if (const std::size_t close = unit.close_angle(i); close != none && close < last) i = close;
    if (unit.is(i, "decltype")) i = unit.partner(i + 1);
    if (!unit.is_any(i, {"&", "&&"})) continue;
    bool pack = false;
    for (++i; i < last && !unit.is_any(i, {"=", ")", "["}); ++i) {
      if (unit.is(i, "...")) pack = true;
      if (unit.is_word(i) && !unit.is_any(i, {"__restrict__", "__restrict", "const", "volatile", "__grid_constant__"}))
        return ", &" + std::string(unit[i].text) + (pack ? "..." : "");
    }
    break;  // unnamed
  }
  return {};
}

std::string reference_captures(const Unit& unit, std::size_t parameters) {
  const std::size_t close = unit.partner(parameters);
  std::string captures;
  std::size_t first = parameters + 1;
  for (std::size_t i = first; i <= close; ++i) {
    if (i == close || unit.is(i, ",")) {
      captures += reference_capture(unit, first, i);
      first = i + 1;
    } else if (unit.is_any(i, {"(", "[", "{"})) {
      i = unit.partner(i);
    } else if (unit.is(i, "<")) {
      if (const std::size_t end = unit.close_angle(i); end != none && end < close) i = end;
    }
  }
  return captures;
}

}  // namespace

void wrap_kernels(Unit& unit, const Functions& functions) {
  for (const Function& function : functions.all()) {
    if (!function.kernel || function.body == none) continue;
    const std::string captures = reference_captures(unit, function.parameters);
    unit.insert_after(function.body, std::string(runtime_namespace) + "enter([=" + captures + "]() mutable {");
    unit.insert_before(unit.partner(function.body), "});");
  }
}

}  // namespace causeway::translate
