// SPDX-License-Identifier: Apache-2.0
#include "spec/tokens.h"

#include <algorithm>

namespace kagent::spec {
namespace {

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' ||
         static_cast<unsigned char>(c) >= 0x80;
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

class Tokenizer {
 public:
  explicit Tokenizer(std::string_view source) : source_(source) {}

  std::vector<Token> run() {
    while (at_ < source_.size()) step();
    return std::move(tokens_);
  }

 private:
  char peek(std::size_t ahead = 0) const { return at_ + ahead < source_.size() ? source_[at_ + ahead] : '\0'; }

  void advance(std::size_t count) {
    const std::size_t end = std::min(at_ + count, source_.size());
    for (; at_ < end; ++at_) {
      if (source_[at_] == '\n') {
        ++line_;
        line_start_ = true;
      }
    }
  }

  void step() {
    const char c = peek();
    if (c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f' || c == '\v') return advance(1);
    if (c == '\\' && (peek(1) == '\n' || peek(1) == '\r')) return advance(2);
    if (c == '/' && peek(1) == '/') return skip_line();
    if (c == '/' && peek(1) == '*') return skip_to("*/", 2);
    if (c == '#' && line_start_) return skip_line();
    line_start_ = false;
    if (is_letter(c)) return word();
    if (is_digit(c) || (c == '.' && is_digit(peek(1)))) return number();
    if (c == '"' || c == '\'') return literal(c);
    if (c == ':' && peek(1) == ':') return push(Token::Kind::punctuation, 2);
    if (c == '-' && peek(1) == '>') return push(Token::Kind::punctuation, 2);
    push(Token::Kind::punctuation, 1);
  }

  void push(Token::Kind kind, std::size_t length) {
    tokens_.push_back({kind, std::string(source_.substr(at_, length)), line_});
    advance(length);
  }

  void skip_to(std::string_view end, std::size_t after) {
    const std::size_t found = source_.find(end, at_ + after);
    advance((found == std::string_view::npos ? source_.size() : found + end.size()) - at_);
  }

  // To the end of a comment or directive, over continued lines and comments that begin in it.
  void skip_line() {
    while (at_ < source_.size() && peek() != '\n') {
      if (peek() == '\\' && (peek(1) == '\n' || (peek(1) == '\r' && peek(2) == '\n')))
        advance(peek(1) == '\n' ? 2 : 3);
      else if (peek() == '/' && peek(1) == '*')
        skip_to("*/", 2);
      else
        advance(1);
    }
  }

  void word() {
    std::size_t length = 0;
    while (is_letter(peek(length)) || is_digit(peek(length))) ++length;
    const std::string_view text = source_.substr(at_, length);
    if (peek(length) == '"' && text.ends_with('R') && text.size() <= 3) return raw_string(length);
    push(Token::Kind::identifier, length);
  }

  void number() {
    std::size_t length = 0;
    while (is_letter(peek(length)) || is_digit(peek(length)) || peek(length) == '.' ||
           (peek(length) == '\'' && is_digit(peek(length + 1))))
      ++length;
    push(Token::Kind::number, std::max<std::size_t>(length, 1));
  }

  void literal(char quote) {
    std::size_t length = 1;
    while (at_ + length < source_.size() && peek(length) != quote && peek(length) != '\n')
      length += peek(length) == '\\' ? 2 : 1;
    push(Token::Kind::literal, length + 1);
  }

  // R"tag( ... )tag"
  void raw_string(std::size_t prefix) {
    const std::size_t open = source_.find('(', at_ + prefix);
    if (open == std::string_view::npos) return push(Token::Kind::literal, source_.size() - at_);
    const std::string end = ")" + std::string(source_.substr(at_ + prefix + 1, open - at_ - prefix - 1)) + "\"";
    const std::size_t found = source_.find(end, open);
    push(Token::Kind::literal, (found == std::string_view::npos ? source_.size() : found + end.size()) - at_);
  }

  std::string_view source_;
  std::size_t at_ = 0;
  int line_ = 1;
  bool line_start_ = true;
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> tokenize(std::string_view source) {
  return Tokenizer(source).run();
}

}  // namespace kagent::spec
