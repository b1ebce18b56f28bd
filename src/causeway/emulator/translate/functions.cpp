#include <causeway/emulator/translate/functions.hpp>
#include <causeway/emulator/translate/statements.hpp>
#include <causeway/emulator/translate/words.hpp>

#include <algorithm>

namespace causeway::translate {
namespace {

// The name that stands before the parameter list: `f (`, `f<int> (`.
std::size_t declared_name(const Unit& unit, std::size_t parameters) {
  std::size_t name = parameters - 1;
  if (unit.is(name, ">")) {
    const std::size_t open = unit.open_angle(name);
    if (open == none || open == 0) return none;
    name = open - 1;
  }
  return unit.is_word(name) && !is_specifier(unit[name].text) ? name : none;
}

// From `operator` to the token before the parameter list: operator+, operator(), operator bool.
std::size_t skip_operator(const Unit& unit, std::size_t i) {
  if (unit.is(i + 1, "(") && unit.is(i + 2, ")")) return i + 2;
  while (i + 2 < unit.size() && !unit.is(i + 1, "(")) ++i;
  return i;
}

// In `x{1}` of a constructor's initializers the bracket follows a name, the body's follows `)` or `}`.
bool opens_initializer(const Unit& unit, std::size_t i) { return unit.is_word(i - 1) || unit.is(i - 1, ">"); }

// Reads on from the specifier i. Returns a function without parameters and body for a variable.
Function read_declaration(const Unit& unit, std::size_t i) {
  Function function;
  const bool lambda = after_captures(unit, i);
  bool after_operator = false, initializers = false;
  for (++i; i < unit.size(); ++i) {
    if (unit.is(i, "operator")) {
      after_operator = true;
      i = skip_operator(unit, i);
    } else if (unit.is(i, "(")) {
      if (function.parameters == none && !takes_arguments_as_attribute(unit[i - 1].text)) {
        function.parameters = i;
        if (!lambda && !after_operator) function.name = declared_name(unit, i);
      }
      i = unit.partner(i);
    } else if (unit.is(i, "[")) {
      i = unit.partner(i);
    } else if (unit.is(i, "<")) {
      if (const std::size_t close = unit.close_angle(i); close != none) i = close;
    } else if (unit.is(i, ":") && function.parameters != none) {
      initializers = true;
    } else if (unit.is(i, "{")) {
      const bool is_body = (function.parameters != none || lambda) && !(initializers && opens_initializer(unit, i));
      if (is_body) {
        function.body = i;
        return function;
      }
      i = unit.partner(i);  // a variable's initializer, or the members of the variable's type
    } else if (unit.is_any(i, {";", "=", ")", "]", "}"})) {
      return function;
    }
  }
  return function;
}

void read_prefix(const Unit& unit, std::size_t specifier, Function& function) {
  const std::size_t end = function.body != none ? function.body : function.parameters;
  for (std::size_t i = statement_begin(unit, specifier); i < end; ++i) {
    if (unit.is_any(i, {"constexpr", "consteval"})) function.is_constexpr = true;
    if (unit.is(i, "template") && unit.is(i + 1, "<") && !unit.is(i + 2, ">")) function.is_template = true;
  }
}

}  // namespace

bool after_captures(const Unit& unit, std::size_t i) {
  // An attribute ends with a square bracket, too: [[nodiscard]] __device__ ...
  while (i > 0 && is_specifier(unit[i].text)) --i;
  return unit.is(i, "]") && !unit.is(unit.partner(i) + 1, "[");
}

Functions::Functions(const Unit& unit) : owner_(unit.size(), none) {
  std::map<std::size_t, std::size_t> by_parameters;  // several specifiers mark the same function
  for (std::size_t i = 0; i < unit.size(); ++i) {
    const bool kernel = unit.is(i, "__global__"), device = unit.is(i, "__device__"), host = unit.is(i, "__host__");
    if (!kernel && !device && !host) continue;
    Function function = read_declaration(unit, i);
    const std::size_t key = function.parameters != none ? function.parameters : function.body;
    if (key == none) continue;
    const auto [known, added] = by_parameters.emplace(key, functions_.size());
    if (added) {
      read_prefix(unit, i, function);
      functions_.push_back(function);
    }
    Function& marked = functions_[known->second];
    marked.kernel |= kernel;
    marked.device |= kernel || device;
    marked.host |= host;
  }
  // In the order of the text: an inner lambda comes after the function around it and takes its tokens over.
  for (std::size_t f = 0; f < functions_.size(); ++f) {
    const Function& function = functions_[f];
    if (function.kernel && function.name != none) kernels_.emplace(unit[function.name].text, f);
    if (!function.device || function.body == none) continue;
    const std::size_t first = function.parameters != none ? function.parameters : function.body;
    const std::size_t last = unit.partner(function.body);
    std::fill(owner_.begin() + static_cast<std::ptrdiff_t>(first), owner_.begin() + static_cast<std::ptrdiff_t>(last),
              f);
  }
}

bool Functions::is_kernel_template(std::string_view name) const {
  const auto [first, last] = kernels_.equal_range(name);
  return std::any_of(first, last, [&](const auto& kernel) { return functions_[kernel.second].is_template; });
}

}  // namespace causeway::translate
