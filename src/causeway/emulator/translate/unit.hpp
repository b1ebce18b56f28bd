// A translation unit: its tokens, which brackets belong together, and the edits that the rules record.
#pragma once
#include <causeway/emulator/translate/lexer.hpp>

#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace causeway::translate {

/// "No such token".
inline constexpr std::size_t none = static_cast<std::size_t>(-1);

class Unit {
 public:
  /// `source` must outlive the unit.
  explicit Unit(std::string_view source);

  [[nodiscard]] std::size_t size() const { return lexed_.tokens.size(); }
  /// Beyond the tokens there is the end: rules look around without asking whether the text goes on.
  [[nodiscard]] const Token& operator[](std::size_t i) const { return lexed_.tokens[i < size() ? i : size() - 1]; }
  /// Whether token i exists and reads `text`; `none` and indices before the first token are no tokens.
  [[nodiscard]] bool is(std::size_t i, std::string_view text) const { return i < size() && (*this)[i].text == text; }
  [[nodiscard]] bool is_any(std::size_t i, std::initializer_list<std::string_view> texts) const;
  [[nodiscard]] bool is_word(std::size_t i) const { return i < size() && (*this)[i].kind == TokenKind::word; }
  /// Whether token i follows token i - 1 without a blank.
  [[nodiscard]] bool is_glued(std::size_t i) const { return i < size() && (*this)[i].space.empty(); }

  /// The bracket that belongs to the round, square or curly bracket i. In text whose brackets do not match it is the
  /// last token, or i itself; so it is for a token that is no bracket.
  [[nodiscard]] std::size_t partner(std::size_t i) const { return i < size() ? partner_[i] : size() - 1; }
  /// The innermost open bracket around token i, or none.
  [[nodiscard]] std::size_t parent(std::size_t i) const { return parent_[i < size() ? i : size() - 1]; }
  /// The `>` that closes the template list opened by the `<` i, or none where it does not look like one.
  [[nodiscard]] std::size_t close_angle(std::size_t i) const;
  /// The `<` that opens the template list closed by the `>` i, or none.
  [[nodiscard]] std::size_t open_angle(std::size_t i) const;

  /// Throws a TranslateError for the line of token i.
  [[noreturn]] void fail(std::size_t i, const std::string& text) const;

  // Edits. The space before a token is never touched: newlines and line markers stay.
  void drop(std::size_t i) { replace(i, " "); }
  void drop(std::size_t first, std::size_t last);  ///< both included
  void replace(std::size_t i, std::string_view text) { edits_[i].text = text; }
  void insert_before(std::size_t i, std::string_view text) { edits_[i].before.insert(0, text); }
  void insert_after(std::size_t i, std::string_view text) { edits_[i].after += text; }
  /// Tokens first to last (both included) as edited so far, on one line.
  [[nodiscard]] std::string on_one_line(std::size_t first, std::size_t last) const;
  /// The whole text with all edits.
  [[nodiscard]] std::string result() const;

 private:
  struct Edit {
    std::string before;
    std::optional<std::string> text;
    std::string after;
  };

  void match_brackets();

  std::string_view source_;
  Lexed lexed_;
  std::vector<std::size_t> partner_;
  std::vector<std::size_t> parent_;
  std::map<std::size_t, Edit> edits_;
};

}  // namespace causeway::translate
