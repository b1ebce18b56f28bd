// The order in which the rules run.
#include <causeway/emulator/translate/functions.hpp>
#include <causeway/emulator/translate/rules.hpp>
#include <causeway/emulator/translate/translate.hpp>
#include <causeway/emulator/translate/unit.hpp>

namespace causeway::translate {

std::string translate(std::string_view preprocessed, const TranslateOptions& options) {
  Unit unit(preprocessed);
  const Functions functions(unit);
  check_inline_asm(unit, functions);
  drop_specifiers(unit);
  wrap_kernels(unit, functions);
  replace_builtins(unit, functions);
  place_shared_variables(unit, functions);
  mark_kernel_handles(unit, functions);
  if (options.ticks) insert_ticks(unit, functions);
  // Last, because a launch moves the text of its configuration: what the other rules made of it must be there already.
  rewrite_launches(unit);
  return unit.result();
}

}  // namespace causeway::translate
