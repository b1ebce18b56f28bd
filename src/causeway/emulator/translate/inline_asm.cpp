// Inline PTX in device code has no translation: say so with the user's line, instead of letting the host's assembler
// complain about it. An empty template (a compiler barrier) is fine, and so is assembly in host code.
#include <causeway/emulator/translate/functions.hpp>
#include <causeway/emulator/translate/rules.hpp>
#include <causeway/emulator/translate/unit.hpp>

#include <string>

namespace causeway::translate {
namespace {

// The text of a string literal, its white space squeezed to single blanks. PTX is plain text: other escapes than \n
// and \t do not occur in it.
void append_unquoted(std::string& text, std::string_view literal) {
  const std::size_t open = literal.find('"'), close = literal.rfind('"');
  for (std::size_t i = open + 1; i < close; ++i) {
    char c = literal[i];
    if (c == '\\' && i + 1 < close) {
      c = literal[++i];
      if (c == 'n' || c == 't' || c == 'r') c = ' ';
    }
    const bool blank = c == ' ' || c == '\t' || c == '\n';
    if (!blank) {
      text += c;
    } else if (!text.empty() && text.back() != ' ') {
      text += ' ';
    }
  }
}

}  // namespace

void check_inline_asm(const Unit& unit, const Functions& functions) {
  for (std::size_t i = 0; i < unit.size(); ++i) {
    if (!unit.is_any(i, {"asm", "__asm__", "__asm"}) || unit[i].system || !functions.device_function_at(i)) continue;
    std::size_t open = i + 1;
    while (unit.is_word(open)) ++open;  // volatile, goto, inline
    if (!unit.is(open, "(")) continue;
    std::string instructions;
    for (std::size_t j = open + 1; j < unit.size() && unit[j].kind == TokenKind::literal; ++j)
      append_unquoted(instructions, unit[j].text);
    while (!instructions.empty() && instructions.back() == ' ') instructions.pop_back();
    if (instructions.empty()) continue;
    unit.fail(i, "inline PTX cannot be translated: asm(\"" + instructions +
                     "\"); write it in CUDA C++, or guard it with #if !CAUSEWAY_CPU");
  }
}

}  // namespace causeway::translate
