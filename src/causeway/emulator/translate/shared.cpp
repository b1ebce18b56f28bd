// __shared__ variables become references into the arena of the block that runs.
//
// In a function the variables of one declaration are the members of a local structure. Its type is the key of the slot,
// so every instantiation of a template has its own:
//
//   __shared__ T a[N], b;      struct causeway_shared_a { T a[N], b; };
//                              auto& causeway_slot_a = shared_slot<causeway_shared_a>();
//                              auto& a = causeway_slot_a.a; auto& b = causeway_slot_a.b;
//   extern __shared__ T x[];   auto& x = dynamic_shared<T>();
//
// At file scope no block runs when the declaration is met, so it becomes a function, which device code after it calls:
//
//   extern __shared__ T x[];   namespace { inline auto& causeway_get_x() { return dynamic_shared<T>(); } }
//   ... x[1] ...               ... causeway_get_x()[1] ...
#include <causeway/emulator/translate/functions.hpp>
#include <causeway/emulator/translate/rules.hpp>
#include <causeway/emulator/translate/shadows.hpp>
#include <causeway/emulator/translate/shared_declaration.hpp>
#include <causeway/emulator/translate/unit.hpp>

#include <map>
#include <string>

namespace causeway::translate {
namespace {

const std::string runtime{runtime_namespace};

std::string text_of(const Unit& unit, std::size_t i) { return std::string(unit[i].text); }

bool ends_captures(const Unit& unit, std::size_t close) {
  return unit.is_any(close + 1, {"(", "{", "<", "mutable", "__device__", "__host__", "noexcept", "->"});
}

// A lambda's [=] copies what a reference refers to, but CUDA's shared variables are static and never copied: the
// lambdas after the declaration that use the variable capture it by reference.
void capture_by_reference(Unit& unit, std::size_t name, std::size_t semicolon) {
  const std::size_t scope = unit.parent(name);
  const std::size_t end = scope == none ? unit.size() : unit.partner(scope);
  for (std::size_t i = semicolon; i < end; ++i) {
    if (!unit.is(i, "[") || !unit.is(i + 1, "=") || !ends_captures(unit, unit.partner(i))) continue;
    std::size_t body = unit.partner(i);
    while (body < end && !unit.is(body, "{")) body = unit.is(body, "(") ? unit.partner(body) + 1 : body + 1;
    bool used = false;
    for (std::size_t j = body; body < end && j < unit.partner(body); ++j) used |= unit[j].text == unit[name].text;
    if (used) unit.insert_after(i + 1, ", &" + text_of(unit, name));
  }
}

void drop_storage_words(Unit& unit, const SharedDeclaration& declaration) {
  for (std::size_t i = declaration.first; i < declaration.semicolon; ++i)
    if (unit.is_any(i, {"static", "__shared__"})) unit.drop(i);
}

void place_in_function(Unit& unit, const SharedDeclaration& declaration) {
  std::string text;
  if (declaration.is_extern) {
    const auto types = dynamic_element_types(unit, declaration);
    for (std::size_t n = 0; n < types.size(); ++n) {
      const std::size_t name = declaration.names[n];
      text += " auto& " + text_of(unit, name) + " =" + runtime + "dynamic_shared<" + types[n] + ">()";
      if (!unit.is(name + 1, "[")) text += "[0]";
      if (n + 1 < types.size()) text += ";";
    }
    unit.drop(declaration.first, declaration.semicolon - 1);
    unit.insert_before(declaration.first, text);
  } else {
    const std::string first = text_of(unit, declaration.names.front());
    const std::string type = "causeway_shared_" + first, slot = "causeway_slot_" + first;
    drop_storage_words(unit, declaration);
    unit.insert_before(declaration.first, "struct " + type + " {");
    text = "; }; auto& " + slot + " =" + runtime + "shared_slot<" + type + ">()";
    for (const std::size_t name : declaration.names)
      text += "; auto& " + text_of(unit, name) + " = " + slot + "." + text_of(unit, name);
    unit.insert_before(declaration.semicolon, text);
  }
  for (const std::size_t name : declaration.names) capture_by_reference(unit, name, declaration.semicolon);
}

std::string accessor(const std::string& name, const std::string& value) {
  return " [[maybe_unused]] inline auto& causeway_get_" + name + "() { return" + runtime + value + "; }";
}

void place_at_file_scope(Unit& unit, const SharedDeclaration& declaration) {
  std::string text;
  if (declaration.is_extern) {
    const auto types = dynamic_element_types(unit, declaration);
    for (std::size_t n = 0; n < types.size(); ++n) {
      const std::size_t name = declaration.names[n];
      const bool array = unit.is(name + 1, "[");
      text += accessor(text_of(unit, name), "dynamic_shared<" + types[n] + (array ? ">()" : ">()[0]"));
    }
    unit.drop(declaration.first, declaration.semicolon);
    unit.insert_before(declaration.first, "namespace {" + text + " }");
  } else {
    const std::string type = "causeway_shared_" + text_of(unit, declaration.names.front());
    drop_storage_words(unit, declaration);
    unit.insert_before(declaration.first, "namespace { struct " + type + " {");
    for (const std::size_t name : declaration.names)
      text += accessor(text_of(unit, name), "shared_slot<" + type + ">()." + text_of(unit, name));
    unit.insert_after(declaration.semicolon, " };" + text + " }");
  }
}

// name -> the token after which its uses are calls of the accessor
using FileScopeNames = std::map<std::string_view, std::size_t>;

void call_accessors(Unit& unit, const Functions& functions, const FileScopeNames& names) {
  const Shadows shadows(unit, [&](std::string_view word) { return names.contains(word); });
  for (std::size_t i = 0; i < unit.size(); ++i) {
    if (!unit.is_word(i) || !functions.device_function_at(i)) continue;
    const auto declared = names.find(unit[i].text);
    if (declared == names.end() || i < declared->second || unit.is_any(i - 1, {".", "->"})) continue;
    if (shadows.covers(i, declared->second)) continue;
    unit.replace(i, "causeway_get_" + text_of(unit, i) + "()");
  }
}

}  // namespace

void place_shared_variables(Unit& unit, const Functions& functions) {
  FileScopeNames file_scope;
  for (std::size_t i = 0; i < unit.size(); ++i) {
    if (!unit.is(i, "__shared__")) continue;
    if (const std::size_t open = unit.parent(i); open != none && !unit.is(open, "{")) {
      unit.drop(i);  // in a cast or a parameter the word says nothing that the emulator needs
      continue;
    }
    const SharedDeclaration declaration = read_shared_declaration(unit, i);
    if (functions.device_function_at(i)) {
      place_in_function(unit, declaration);
    } else {
      place_at_file_scope(unit, declaration);
      for (const std::size_t name : declaration.names) file_scope.emplace(unit[name].text, name);
    }
    i = declaration.semicolon;
  }
  if (!file_scope.empty()) call_accessors(unit, functions, file_scope);
}

}  // namespace causeway::translate
