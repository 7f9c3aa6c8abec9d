// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "util/lexer.h"
#include "values/kernel_spec.h"

namespace kagent::gate {

using util::lex;
using util::LexedSource;
using util::match_brackets;
using util::spelled;
using util::Token;
using util::TokenKind;

// Something in a source that a candidate may not bring in. The parent has findings of its own: what both have is
// allowed.
struct Finding {
  std::string rule;
  std::string subject;  // what it is about, the same wherever it stands: a name, a header, a declaration
  int line = 0;
  std::string message;
};

// No honest source comes near; a hostile one is refused for the first of them.
inline constexpr std::size_t kMostFindings = 2000;

using Findings = std::vector<Finding>;
using Tokens = std::vector<Token>;

// What a source is made of, and so what its policy looks at.
enum class CodeKind {
  host,         // C++
  cuda,         // style launcher: host functions that launch kernels
  device_only,  // style kernel
};

// Names that reach outside: files, processes, clocks, threads, ... .
void find_words(const Tokens& tokens, CodeKind kind, Findings& findings);
// Includes, pragmas, macros, #line, token pasting.
void find_directives(const Tokens& tokens, CodeKind kind, const Rules& rules, Findings& findings);
// Attributes, assembler, linkage, forged addresses, blobs of data.
void find_constructs(const Tokens& tokens, CodeKind kind, Findings& findings);
// Variables that keep their value from one call to the next.
void find_state(const Tokens& tokens, CodeKind kind, Findings& findings);

// End of the directive that begins at `index`: the first token of the next line.
std::size_t end_of_line(const Tokens& tokens, std::size_t index);
// Whether the token begins a directive.
bool begins_directive(const Tokens& tokens, std::size_t index);
// Index behind the bracket that closes the one at `index`, or the number of tokens.
std::size_t past_group(const Tokens& tokens, std::size_t index);
// The tokens without directives.
Tokens without_directives(const Tokens& tokens);

}  // namespace kagent::gate
