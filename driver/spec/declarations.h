// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "spec/tokens.h"

namespace kagent::spec {

// A function that is declared or defined at namespace level.
struct FunctionDeclaration {
  std::string name;  // with its namespaces
  int line = 1;
  std::vector<Token> before;      // what stands before the name: specifiers and result type
  std::vector<Token> parameters;  // between the parentheses
  std::vector<Token> after;       // behind them: noexcept, a trailing result type
  bool is_definition = false;
  bool is_template = false;
  std::vector<Token> template_parameters;  // between the brackets; of the innermost template
  bool is_local = false;                   // static, or in a namespace without a name
};

struct Declarations {
  std::vector<FunctionDeclaration> functions;
  std::map<std::string, std::vector<Token>> aliases;  // using real = float;  (by the last part of the name)
};

// All function declarations and type aliases at namespace level, in order. Classes and bodies are skipped.
Declarations find_declarations(const std::vector<Token>& tokens);

}  // namespace kagent::spec
