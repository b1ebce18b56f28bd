#include <causeway/emulator/translate/shared_declaration.hpp>
#include <causeway/emulator/translate/statements.hpp>
#include <causeway/emulator/translate/words.hpp>

namespace causeway::translate {
namespace {

bool has_type_keyword(const Unit& unit, std::size_t first, std::size_t last) {
  for (std::size_t i = first; i < last; ++i)
    if (unit.is_any(i, {"struct", "union", "class", "enum"})) return true;
  return false;
}

[[noreturn]] void fail_initializer(const Unit& unit, std::size_t name) {
  unit.fail(name, "the __shared__ variable " + std::string(unit[name].text) +
                      " cannot have an initializer: assign to it in one thread, then __syncthreads()");
}

[[noreturn]] void fail_form(const Unit& unit, std::size_t specifier) {
  unit.fail(specifier, "a __shared__ declaration reads __shared__ type name[size], ...;");
}

// The name that tokens [first, last) declare: `T* a[2]`, `(*f)(int)`, `struct {...} s`.
std::size_t declarator_name(const Unit& unit, std::size_t first, std::size_t last) {
  std::size_t name = none;
  for (std::size_t i = first; i < last; ++i) {
    if (unit.is_word(i)) {
      if (takes_arguments_as_attribute(unit[i].text) && unit.is(i + 1, "("))
        i = unit.partner(i + 1);
      else
        name = i;
    } else if (unit.is(i, "<")) {
      if (const std::size_t close = unit.close_angle(i); close != none && close < last) i = close;
    } else if (unit.is(i, "[") && unit.is(i + 1, "[")) {
      i = unit.partner(i);  // an attribute
    } else if (unit.is(i, "[")) {
      for (std::size_t j = i; j < last; j = unit.partner(j) + 1)
        if (!unit.is(j, "[")) fail_initializer(unit, name == none ? i : name);
      break;
    } else if (unit.is(i, "(") && unit.is_any(i + 1, {"*", "&"})) {
      return declarator_name(unit, i + 1, unit.partner(i));
    } else if (unit.is(i, "{") && has_type_keyword(unit, first, i)) {
      i = unit.partner(i);
    } else if (unit.is_any(i, {"=", "{", "("})) {
      fail_initializer(unit, name == none ? i : name);
    }
  }
  return name;
}

// Calls visit(first, last) for what stands between the commas of the declaration.
template <class Visit>
void for_each_declarator(const Unit& unit, const SharedDeclaration& declaration, Visit visit) {
  std::size_t first = declaration.first;
  for (std::size_t i = first; i <= declaration.semicolon; ++i) {
    if (i == declaration.semicolon || unit.is(i, ",")) {
      visit(first, i);
      first = i + 1;
    } else if (unit.is_any(i, {"(", "[", "{"})) {
      i = unit.partner(i);
    } else if (unit.is(i, "<")) {
      if (const std::size_t close = unit.close_angle(i); close != none && close < declaration.semicolon) i = close;
    }
  }
}

// Tokens [first, last) without the words that belong to the declaration and not to the type.
std::string type_text(const Unit& unit, std::size_t first, std::size_t last) {
  std::string text;
  for (std::size_t i = first; i < last; ++i) {
    if (unit.is_any(i, {"extern", "__shared__", "static"})) continue;
    if (unit.is_any(i, {"alignas", "__align__", "__attribute__"})) {
      i = unit.partner(i + 1);
      continue;
    }
    if (unit.is(i, "[") && unit.is(i + 1, "[")) {
      i = unit.partner(i);
      continue;
    }
    if (!text.empty()) text += ' ';
    text += unit[i].text;
  }
  return text;
}

}  // namespace

SharedDeclaration read_shared_declaration(const Unit& unit, std::size_t specifier) {
  SharedDeclaration declaration;
  declaration.first = statement_begin(unit, specifier);
  declaration.semicolon = statement_end(unit, specifier);
  if (!unit.is(declaration.semicolon, ";")) fail_form(unit, specifier);
  for (std::size_t i = declaration.first; i < specifier; ++i) declaration.is_extern |= unit.is(i, "extern");
  declaration.is_extern |= unit.is(specifier + 1, "extern");
  for_each_declarator(unit, declaration, [&](std::size_t first, std::size_t last) {
    const std::size_t name = declarator_name(unit, first, last);
    if (name == none) fail_form(unit, specifier);
    declaration.names.push_back(name);
  });
  return declaration;
}

std::vector<std::string> dynamic_element_types(const Unit& unit, const SharedDeclaration& declaration) {
  std::vector<std::string> types;
  std::string base;  // the type before the first name; later names share it
  for_each_declarator(unit, declaration, [&](std::size_t first, std::size_t last) {
    const std::size_t name = declaration.names[types.size()];
    std::string type = types.empty() ? type_text(unit, first, name) : base + " " + type_text(unit, first, name);
    if (types.empty()) base = type;
    const std::size_t inner = unit.is(name + 1, "[") ? unit.partner(name + 1) + 1 : last;
    if (inner < last) type += " " + type_text(unit, inner, last);
    types.push_back(std::move(type));
  });
  return types;
}

}  // namespace causeway::translate
