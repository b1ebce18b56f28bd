// Reads a declaration of __shared__ variables.
#pragma once
#include <causeway/emulator/translate/unit.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace causeway::translate {

struct SharedDeclaration {
  std::size_t first = none;          ///< the first token of the declaration
  std::size_t semicolon = none;      ///< its end
  bool is_extern = false;            ///< the block's dynamic shared memory
  std::vector<std::size_t> names{};  ///< the declared names
};

/// The declaration that the word __shared__ at `specifier` belongs to. Throws a TranslateError for an initializer.
SharedDeclaration read_shared_declaration(const Unit& unit, std::size_t specifier);

/// The element type of `extern __shared__ T x[], y[][4];` for each name: "T", "T [4]".
std::vector<std::string> dynamic_element_types(const Unit& unit, const SharedDeclaration& declaration);

}  // namespace causeway::translate
