// A kernel whose name is used as a value, `(void*)k<int>` or `cudaFuncSetAttribute(k, ...)`, may be launched by its
// address with a `void**` of arguments. kernel_handle(k<int>) is k<int> itself and registers how to call it that way;
// of anything that is no kernel it is the identity, so a wrong guess here costs nothing but must still compile.
#include <causeway/emulator/translate/functions.hpp>
#include <causeway/emulator/translate/rules.hpp>
#include <causeway/emulator/translate/shadows.hpp>
#include <causeway/emulator/translate/statements.hpp>
#include <causeway/emulator/translate/unit.hpp>

#include <string>

namespace causeway::translate {
namespace {

struct Use {
  std::size_t first, last;  // ns::k<int>, with a & before it
};

// The whole name around token i.
Use extend(const Unit& unit, std::size_t i) {
  Use use{i, i};
  if (unit.is(i + 1, "<"))
    if (const std::size_t close = unit.close_angle(i + 1); close != none) use.last = close;
  while (unit.is(use.first - 1, "template")) --use.first;
  while (unit.is(use.first - 1, "::")) {
    std::size_t qualifier = use.first - 2;
    if (unit.is(qualifier, ">")) qualifier = unit.open_angle(qualifier) - 1;
    use.first = unit.is_word(qualifier) ? qualifier : use.first - 1;
    if (qualifier != use.first) break;  // ::k
  }
  if (unit.is(use.first - 1, "&")) --use.first;
  return use;
}

// Whether token i stands between the < and > of a template list: there only a constant may stand.
bool in_template_list(const Unit& unit, std::size_t i) {
  for (std::size_t j = i - 1; j < unit.size(); --j) {
    if (unit.is_any(j, {")", "]", "}"}))
      j = unit.partner(j);
    else if (unit.is_any(j, {"(", "[", "{", ";"}))
      return false;
    else if (unit.is(j, ">"))
      j = unit.open_angle(j);
    else if (unit.is(j, "<") && unit.close_angle(j) != none && unit.is_word(j - 1))
      return true;
    if (j == none) return false;
  }
  return false;
}

bool is_value(const Unit& unit, const Use& use) {
  const std::size_t before = use.first - 1;
  if (!unit.is_any(before, {")", "(", ",", "=", "?", ":", "{", "return"})) return false;
  if (!unit.is_any(use.last + 1, {")", ",", ";", ":", "?", "}"})) return false;
  const bool parenthesised = unit.is(before, "(") && unit.is(use.last + 1, ")");
  if (parenthesised && unit.is_any(before - 1, {"decltype", "sizeof", "typeid", "noexcept"})) return false;
  // The declarator T (&first)[3].
  if (parenthesised && unit.is(use.first, "&") && unit.is_any(use.last + 2, {"[", "("})) return false;
  const std::size_t begin = statement_begin(unit, use.first);
  return !unit.is_any(begin, {"using", "typedef", "enum"}) && !in_template_list(unit, use.first);
}

}  // namespace

void mark_kernel_handles(Unit& unit, const Functions& functions) {
  const auto& kernels = functions.kernels();
  if (kernels.empty()) return;
  const Shadows shadows(unit, [&](std::string_view word) { return kernels.contains(word); });
  for (std::size_t i = 1; i + 1 < unit.size(); ++i) {
    if (!unit.is_word(i) || unit[i].system || !kernels.contains(unit[i].text)) continue;
    if (const Function* function = functions.device_function_at(i); function && !function->host) continue;
    const Use use = extend(unit, i);
    if (unit.is(use.first, "std")) continue;
    // Without arguments the name of a template is no value; its address is deduced where it is used.
    if (use.last == i && functions.is_kernel_template(unit[i].text)) continue;
    const bool qualified = unit.is(i - 1, "::");
    if ((!qualified && (shadows.covers(i) || declares(unit, i))) || !is_value(unit, use)) continue;
    unit.insert_before(use.first, std::string(runtime_namespace) + "kernel_handle(");
    unit.insert_after(use.last, ")");
  }
}

}  // namespace causeway::translate
