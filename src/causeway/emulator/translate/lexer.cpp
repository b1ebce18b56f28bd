#include <causeway/emulator/translate/lexer.hpp>

#include <algorithm>
#include <array>
#include <cstdlib>

namespace causeway::translate {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool starts_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || (c & 0x80) != 0;
}
bool in_word(char c) { return starts_word(c) || is_digit(c); }

// Longest first. Not here: `>>` and `>>=`, which may be the ends of template lists.
constexpr std::array<std::string_view, 23> long_punctuation = {
    "<<<", "<=>", "...", "->*", "::", "->", "<<", "<=", ">=", "==", "!=", "&&",
    "||",  "++",  "--",  "+=",  "-=", "*=", "/=", "%=", "&=", "|=", "^=",
};

class Lexer {
 public:
  explicit Lexer(std::string_view source) : source_(source) {}

  Lexed run() {
    while (skip_space(), at_ < source_.size()) token();
    push(at_, TokenKind::end);
    return std::move(result_);
  }

 private:
  [[nodiscard]] char peek(std::size_t ahead = 0) const {
    return at_ + ahead < source_.size() ? source_[at_ + ahead] : '\0';
  }

  void push(std::size_t begin, TokenKind kind) {
    at_ = std::min(at_, source_.size());
    const std::string_view space = source_.substr(space_, begin - space_), text = source_.substr(begin, at_ - begin);
    result_.tokens.push_back({space, text, kind, system_});
    space_ = at_;
    line_start_ = false;
  }

  void skip_space() {
    for (; at_ < source_.size(); ++at_) {
      const char c = source_[at_];
      if (c == '\n') {
        line_start_ = true;
      } else if (c == '#' && line_start_) {
        directive();
      } else if (c == '/' && (peek(1) == '/' || peek(1) == '*')) {
        comment();
      } else if (c != ' ' && c != '\t' && c != '\r' && c != '\f' && c != '\v') {
        return;
      }
    }
  }

  // Comments are there only when the user asks the preprocessor to keep them. Stops on the last character.
  void comment() {
    const bool line = peek(1) == '/';
    const std::size_t end = line ? source_.find('\n', at_) : source_.find("*/", at_ + 2);
    at_ = end == std::string_view::npos ? source_.size() - 1 : (line ? end - 1 : end + 1);
  }

  // A line marker or a pragma. Stops on its last character.
  void directive() {
    const std::size_t end = std::min(source_.find('\n', at_), source_.size());
    const std::string_view line = source_.substr(at_, end - at_);
    const std::size_t open = line.find('"'), close = line.rfind('"');
    if (line.size() > 2 && is_digit(line[2]) && close > open && close != std::string_view::npos) {
      std::string file;
      for (std::size_t i = open + 1; i < close; ++i) {
        if (line[i] == '\\' && i + 1 < close) ++i;
        file += line[i];
      }
      const auto number = std::strtoull(std::string(line.substr(2, open - 2)).c_str(), nullptr, 10);
      result_.markers.push_back({end + 1, static_cast<std::size_t>(number), std::move(file)});
      system_ = line.find(" 3", close) != std::string_view::npos;
    }
    at_ = end - 1;
  }

  void token() {
    const std::size_t begin = at_;
    const char c = peek();
    if (starts_word(c)) {
      while (in_word(peek())) ++at_;
      const std::string_view word = source_.substr(begin, at_ - begin);
      if ((peek() == '"' || peek() == '\'') && is_literal_prefix(word)) {
        literal(word.back() == 'R');
        return push(begin, TokenKind::literal);
      }
      return push(begin, TokenKind::word);
    }
    if (is_digit(c) || (c == '.' && is_digit(peek(1)))) return number(begin);
    if (c == '"' || c == '\'') {
      literal(false);
      return push(begin, TokenKind::literal);
    }
    at_ += punctuation_length();
    push(begin, TokenKind::punctuation);
  }

  static bool is_literal_prefix(std::string_view word) {
    constexpr std::array<std::string_view, 9> prefixes = {"L", "u", "U", "u8", "R", "LR", "uR", "UR", "u8R"};
    return std::find(prefixes.begin(), prefixes.end(), word) != prefixes.end();
  }

  void literal(bool raw) {
    const char quote = peek();
    if (raw && quote == '"') {
      const std::size_t open = source_.find('(', at_);
      if (open == std::string_view::npos) {
        at_ = source_.size();
        return;
      }
      const std::string end = ")" + std::string(source_.substr(at_ + 1, open - at_ - 1)) + "\"";
      const std::size_t close = source_.find(end, open);
      at_ = close == std::string_view::npos ? source_.size() : close + end.size();
      return;
    }
    for (++at_; at_ < source_.size() && source_[at_] != quote; ++at_)
      if (source_[at_] == '\\') ++at_;
    ++at_;
  }

  // A number as the preprocessor knows it: 0x1.8p+3, 1'000, 1e-5f, 0xe+1 (three tokens).
  void number(std::size_t begin) {
    const bool hex = peek() == '0' && (peek(1) == 'x' || peek(1) == 'X');
    for (; at_ < source_.size(); ++at_) {
      const char c = peek();
      if (in_word(c) || c == '.' || (c == '\'' && in_word(peek(1)))) continue;
      const char last = source_[at_ - 1];
      const bool exponent = last == 'p' || last == 'P' || (!hex && (last == 'e' || last == 'E'));
      if (!((c == '+' || c == '-') && exponent && at_ > begin)) break;
    }
    push(begin, TokenKind::number);
  }

  [[nodiscard]] std::size_t punctuation_length() const {
    const std::string_view rest = source_.substr(at_);
    // `operator<<<T>` is the shift operator with template arguments.
    const bool after_operator = !result_.tokens.empty() && result_.tokens.back().text == "operator";
    for (const std::string_view p : long_punctuation)
      if (rest.starts_with(p) && !(p == "<<<" && after_operator)) return p.size();
    return 1;
  }

  std::string_view source_;
  std::size_t at_ = 0;
  std::size_t space_ = 0;  // where the space before the next token begins
  bool line_start_ = true;
  bool system_ = false;
  Lexed result_;
};

}  // namespace

Lexed lex(std::string_view source) { return Lexer(source).run(); }

}  // namespace causeway::translate
