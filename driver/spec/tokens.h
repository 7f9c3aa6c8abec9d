// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kagent::spec {

// A C++ token. Comments and preprocessor lines are left out, string and character literals are one token.
struct Token {
  enum class Kind { identifier, number, literal, punctuation };
  Kind kind = Kind::punctuation;
  std::string text;
  int line = 1;

  bool is(std::string_view what) const { return kind != Kind::literal && text == what; }
  bool is_identifier() const { return kind == Kind::identifier; }
};

// Splits C++ source well enough to find declarations in it. Never fails: what is not C++ gives odd tokens.
std::vector<Token> tokenize(std::string_view source);

}  // namespace kagent::spec
