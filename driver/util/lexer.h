// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kagent::util {

enum class TokenKind { identifier, number, string, character, punctuation };

// One preprocessing token of C++, spelled as the compiler takes it: line continuations removed, digraphs replaced.
struct Token {
  TokenKind kind = TokenKind::punctuation;
  std::string text;          // strings with their quotes and prefix; a header's name as "<vector>" or "\"tile.h\""
  int line = 0;              // from 1
  bool starts_line = false;  // first of its logical line, so that '#' begins a directive
  std::size_t past = 0;      // of an opening bracket: index behind the one that closes it, or the number of tokens

  bool is(std::string_view spelling) const { return text == spelling && kind != TokenKind::string; }
  bool is_identifier() const { return kind == TokenKind::identifier; }
};

struct LexedSource {
  std::vector<Token> tokens;
  int trigraph_line = 0;  // of the first trigraph outside of comments; 0 if there is none
};

// Splits source text into tokens. Accepts anything: what is no C++ comes out as punctuation.
LexedSource lex(std::string_view text);

// Sets `past` of every bracket anew, in one pass: hostile sources have hundreds of thousands of brackets.
void match_brackets(std::vector<Token>& tokens);

// Spellings of tokens [begin, end) with single spaces: equal for equal code, however it is laid out.
std::string spelled(const std::vector<Token>& tokens, std::size_t begin, std::size_t end);

}  // namespace kagent::util
