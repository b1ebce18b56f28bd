// Which uses of a name mean a variable of the program instead of the name that a rule would replace.
#pragma once
#include <causeway/emulator/translate/unit.hpp>

#include <functional>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

namespace causeway::translate {

/// Whether token i, a word, declares a variable, parameter, member or enumerator of that name (never a function).
bool declares(const Unit& unit, std::size_t i);

/// The declarations of interesting names in the program's own text (not in system headers), with their scopes.
class Shadows {
 public:
  Shadows(const Unit& unit, const std::function<bool(std::string_view)>& is_interesting);
  /// Whether token i stands where its name was declared by the program.
  [[nodiscard]] bool covers(std::size_t i) const;
  /// As above, leaving out the declaration at `except`.
  [[nodiscard]] bool covers(std::size_t i, std::size_t except) const;

 private:
  struct Scope {
    std::size_t declaration, first, last;
  };
  const Unit& unit_;
  std::map<std::string_view, std::vector<Scope>> scopes_;
};

}  // namespace causeway::translate
