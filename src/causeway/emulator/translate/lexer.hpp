// Cuts preprocessed C++ into tokens without losing a character.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace causeway::translate {

enum class TokenKind : unsigned char { word, number, literal, punctuation, end };

struct Token {
  std::string_view space;  ///< what stands before the token: blanks, newlines, line markers, pragmas
  std::string_view text;
  TokenKind kind;
  bool system;  ///< comes from a system header (flag 3 of the line marker)
};

/// `# 12 "file.cu"`: the text from `offset` on starts with that line of that file.
struct LineMarker {
  std::size_t offset;
  std::size_t line;
  std::string file;
};

struct Lexed {
  std::vector<Token> tokens;  ///< the last one is of kind end and holds the trailing space
  std::vector<LineMarker> markers;
};

/// The views in the result point into `source`. Punctuation is split so that brackets match: `>>` is two tokens as it
/// may close two template lists, `<<<` is one token as only a kernel launch has it.
Lexed lex(std::string_view source);

}  // namespace causeway::translate
