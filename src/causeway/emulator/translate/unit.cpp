#include <causeway/emulator/translate/translate.hpp>
#include <causeway/emulator/translate/unit.hpp>

#include <algorithm>

namespace causeway::translate {
namespace {

enum class Side { none, open, close };

Side side_of(const Token& token) {
  if (token.kind != TokenKind::punctuation || token.text.size() != 1) return Side::none;
  switch (token.text[0]) {
    case '(':
    case '[':
    case '{':
      return Side::open;
    case ')':
    case ']':
    case '}':
      return Side::close;
    default:
      return Side::none;
  }
}

}  // namespace

Unit::Unit(std::string_view source) : source_(source), lexed_(lex(source)) { match_brackets(); }

bool Unit::is_any(std::size_t i, std::initializer_list<std::string_view> texts) const {
  return i < size() && std::find(texts.begin(), texts.end(), (*this)[i].text) != texts.end();
}

void Unit::match_brackets() {
  partner_.resize(size());
  parent_.resize(size());
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < size(); ++i) {
    partner_[i] = i;
    const Side side = side_of((*this)[i]);
    if (side == Side::close && !open.empty()) {
      partner_[i] = open.back();
      partner_[open.back()] = i;
      open.pop_back();
    }
    parent_[i] = open.empty() ? none : open.back();
    if (side == Side::open) open.push_back(i);
  }
  for (const std::size_t i : open) partner_[i] = size() - 1;
}

std::size_t Unit::close_angle(std::size_t i) const {
  std::size_t depth = 0;
  for (; i < size(); ++i) {
    const Side side = side_of((*this)[i]);
    if (side == Side::open) i = partner(i);
    if (side == Side::close || is(i, ";")) return none;
    if (is(i, "<")) ++depth;
    if (is(i, ">") && --depth == 0) return i;
  }
  return none;
}

std::size_t Unit::open_angle(std::size_t i) const {
  std::size_t depth = 0;
  for (; i < size(); --i) {
    const Side side = side_of((*this)[i]);
    if (side == Side::close) i = partner(i);
    if (side == Side::open || is(i, ";")) return none;
    if (is(i, ">")) ++depth;
    if (is(i, "<") && --depth == 0) return i;
  }
  return none;
}

void Unit::fail(std::size_t i, const std::string& text) const {
  const auto offset = static_cast<std::size_t>((*this)[i].text.data() - source_.data());
  std::string file = "<input>";
  std::size_t line = 1, from = 0;
  const auto after = std::upper_bound(lexed_.markers.begin(), lexed_.markers.end(), offset,
                                      [](std::size_t at, const LineMarker& marker) { return at < marker.offset; });
  if (after != lexed_.markers.begin()) {
    const LineMarker& marker = *std::prev(after);
    file = marker.file;
    line = marker.line;
    from = marker.offset;
  }
  const std::string_view passed = source_.substr(from, offset - from);
  line += static_cast<std::size_t>(std::count(passed.begin(), passed.end(), '\n'));
  throw TranslateError(std::move(file), line, text);
}

void Unit::drop(std::size_t first, std::size_t last) {
  for (std::size_t i = first; i <= last; ++i) edits_[i] = Edit{{}, " ", {}};
}

std::string Unit::on_one_line(std::size_t first, std::size_t last) const {
  std::string text;
  for (std::size_t i = first; i <= last; ++i) {
    if (!(*this)[i].space.empty()) text += ' ';
    if (const auto found = edits_.find(i); found != edits_.end()) {
      const Edit& edit = found->second;
      text += edit.before;
      text += edit.text ? std::string_view(*edit.text) : (*this)[i].text;
      text += edit.after;
    } else {
      text += (*this)[i].text;
    }
  }
  return text;
}

std::string Unit::result() const {
  std::string text;
  text.reserve(source_.size() + source_.size() / 16);
  std::size_t copied = 0;  // how much of the source is in the text already
  for (const auto& [i, edit] : edits_) {
    const auto begin = static_cast<std::size_t>((*this)[i].text.data() - source_.data());
    text += source_.substr(copied, begin - copied);
    text += edit.before;
    text += edit.text ? std::string_view(*edit.text) : (*this)[i].text;
    text += edit.after;
    copied = begin + (*this)[i].text.size();
  }
  text += source_.substr(copied);
  return text;
}

}  // namespace causeway::translate
