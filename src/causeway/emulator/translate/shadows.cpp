// See shadows.hpp. Without a C++ parser this is a reading of the tokens around the name; it leans to "declares" only
// where a type stands before it.
#include <causeway/emulator/translate/shadows.hpp>
#include <causeway/emulator/translate/statements.hpp>
#include <causeway/emulator/translate/words.hpp>

#include <algorithm>

namespace causeway::translate {
namespace {

// The body that belongs to the parameter list `open`, or none if it is a call or a declaration without body.
std::size_t body_after_parameters(const Unit& unit, std::size_t open) {
  std::size_t i = unit.partner(open) + 1;
  if (!unit.is_any(i, {"{", "->", "mutable", "const", "noexcept", ":", "constexpr", "override", "__attribute__"}))
    return none;
  bool initializers = false;
  for (; i < unit.size(); ++i) {
    if (unit.is(i, "{")) {
      if (!initializers || !(unit.is_word(i - 1) || unit.is(i - 1, ">"))) return i;
      i = unit.partner(i);  // x{1}
      continue;
    }
    if (unit.is(i, ":")) initializers = true;
    if (unit.is_any(i, {"(", "["}))
      i = unit.partner(i);
    else if (unit.is_any(i, {";", ")", "}"}) || (unit.is(i, ",") && !initializers))
      return none;
  }
  return none;
}

bool is_statement_head(const Unit& unit, std::size_t open) {
  return unit.is(open, "(") && open > 0 && opens_statement(unit[open - 1].text);
}

// Whether the tokens before i, up to where the statement or parameter begins, read like a type: `const T&`, `int*`.
bool type_stands_before(const Unit& unit, std::size_t i) {
  const std::size_t open = unit.parent(i);
  if (open != none && unit.is(open, "(") && !is_statement_head(unit, open) && body_after_parameters(unit, open) == none)
    return false;  // the arguments of a call
  bool named = false;
  for (std::size_t j = i - 1; j < unit.size(); --j) {
    if (unit.is_any(j, {";", "{", "}", "(", ",", ")", ":"})) break;
    if (unit.is(j, ">")) {
      j = unit.open_angle(j);
      if (j == none) return false;
    } else if (unit.is_word(j)) {
      if (precedes_expression(unit[j].text)) return false;
      named = true;
    } else if (!unit.is_any(j, {"::", "*", "&", "&&", "..."})) {
      return false;
    }
  }
  return named;
}

// `auto [a, b] = ...`, `const auto& [a, b] : ...`
bool in_structured_binding(const Unit& unit, std::size_t i) {
  const std::size_t open = unit.parent(i);
  if (open == none || !unit.is(open, "[") || open < 2) return false;
  return unit.is(open - 1, "auto") || (unit.is_any(open - 1, {"&", "&&"}) && unit.is(open - 2, "auto"));
}

bool is_braced_list(const Unit& unit, std::size_t open) {
  return unit.is_any(open - 1, {"=", "(", ",", "{", "return", ">", "]"}) ||
         (unit.is_word(open - 1) && !unit.is_any(open - 1, {"else", "do", "try"}) &&
          !unit.is_any(statement_begin(unit, open - 1), {"enum", "struct", "class", "union", "namespace", "extern"}));
}

// `int a, b;` and the enumerators of `enum E { a, b }`.
bool in_declarator_list(const Unit& unit, std::size_t i) {
  const std::size_t open = unit.parent(i);
  return open == none || (unit.is(open, "{") && !is_braced_list(unit, open));
}

std::pair<std::size_t, std::size_t> scope_of(const Unit& unit, std::size_t i) {
  std::size_t open = unit.parent(i);
  if (open != none && unit.is(open, "[")) {
    i = open;
    open = unit.parent(open);
  }
  if (open == none) return {i, unit.size()};
  if (unit.is(open, "{")) return {i, unit.partner(open)};
  if (is_statement_head(unit, open)) return {open, statement_end(unit, open - 1)};
  const std::size_t body = body_after_parameters(unit, open);
  return {open, unit.partner(body != none ? body : open)};
}

}  // namespace

bool declares(const Unit& unit, std::size_t i) {
  if (i == 0 || !unit.is_any(i + 1, {"=", ",", ";", ")", "[", "]", "{", "}", ":", "("})) return false;
  const std::size_t before = i - 1;
  if (unit.is(i + 1, "(")) {
    // `dim3 gridDim(4);` declares a variable, `void consume(int);` a function: only a body's statement is taken.
    const std::size_t begin = statement_begin(unit, i), open = unit.parent(i);
    return unit.is_word(before) && !precedes_expression(unit[before].text) && open != none && unit.is(open, "{") &&
           begin < i && unit.is_any(unit.partner(i + 1) + 1, {";", ","}) && !unit.is(before, "void");
  }
  if (unit.is_word(before)) return !precedes_expression(unit[before].text);
  if (unit.is_any(before, {"*", "&", "&&", ">", "..."})) return type_stands_before(unit, i);
  if (unit.is(before, ",")) return in_structured_binding(unit, i) || in_declarator_list(unit, i);
  if (unit.is(before, "[")) return in_structured_binding(unit, i);
  if (unit.is(before, "{")) return in_declarator_list(unit, i) && unit.is_any(i + 1, {",", "=", "}"});  // enumerator
  return false;
}

Shadows::Shadows(const Unit& unit, const std::function<bool(std::string_view)>& is_interesting) : unit_(unit) {
  for (std::size_t i = 0; i < unit.size(); ++i) {
    if (!unit.is_word(i) || unit[i].system || !is_interesting(unit[i].text) || !declares(unit, i)) continue;
    const auto [first, last] = scope_of(unit, i);
    scopes_[unit[i].text].push_back({i, first, last});
  }
}

bool Shadows::covers(std::size_t i) const { return covers(i, none); }

bool Shadows::covers(std::size_t i, std::size_t except) const {
  const auto found = scopes_.find(unit_[i].text);
  if (found == scopes_.end()) return false;
  return std::any_of(found->second.begin(), found->second.end(), [&](const Scope& scope) {
    return scope.declaration != except && scope.first <= i && i <= scope.last;
  });
}

}  // namespace causeway::translate
