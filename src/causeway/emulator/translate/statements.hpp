// Where statements begin and end.
#pragma once
#include <causeway/emulator/translate/unit.hpp>

namespace causeway::translate {

/// The first token of the statement or declaration that token i belongs to.
std::size_t statement_begin(const Unit& unit, std::size_t i);

/// The last token of the statement that begins with token i: its `;` or `}`.
std::size_t statement_end(const Unit& unit, std::size_t i);

}  // namespace causeway::translate
