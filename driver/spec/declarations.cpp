// SPDX-License-Identifier: Apache-2.0
#include "spec/declarations.h"

#include <algorithm>
#include <string_view>

namespace kagent::spec {
namespace {

using Tokens = std::vector<Token>;

bool opens(const Token& token) {
  return token.is("(") || token.is("[") || token.is("{");
}
bool closes(const Token& token) {
  return token.is(")") || token.is("]") || token.is("}");
}

// Index behind the bracket that closes the one at `open`.
std::size_t behind_bracket(const Tokens& tokens, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < tokens.size(); ++i) {
    if (opens(tokens[i])) ++depth;
    if (closes(tokens[i]) && --depth == 0) return i + 1;
  }
  return tokens.size();
}

// Index behind the '>' of template<...>; parentheses inside are skipped whole.
std::size_t behind_angle(const Tokens& tokens, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < tokens.size();) {
    if (tokens[i].is("<")) ++depth;
    if (tokens[i].is(">") && --depth == 0) return i + 1;
    i = opens(tokens[i]) ? behind_bracket(tokens, i) : i + 1;
  }
  return tokens.size();
}

// [[...]], __attribute__((...)), alignas(...), __declspec(...): nothing that matters here.
Tokens without_attributes(const Tokens& tokens) {
  Tokens kept;
  for (std::size_t i = 0; i < tokens.size();) {
    const bool attribute = tokens[i].is("[") && i + 1 < tokens.size() && tokens[i + 1].is("[");
    const bool called =
        (tokens[i].is("__attribute__") || tokens[i].is("alignas") || tokens[i].is("__declspec") ||
         tokens[i].is("__launch_bounds__") || tokens[i].is("__cluster_dims__") || tokens[i].is("__maxnreg__")) &&
        i + 1 < tokens.size() && tokens[i + 1].is("(");
    if (attribute)
      i = behind_bracket(tokens, i);
    else if (called)
      i = behind_bracket(tokens, i + 1);
    else
      kept.push_back(tokens[i++]);
  }
  return kept;
}

bool contains(const Tokens& tokens, std::string_view word) {
  return std::any_of(tokens.begin(), tokens.end(), [word](const Token& token) { return token.is(word); });
}

class Scanner {
 public:
  explicit Scanner(const Tokens& tokens) : tokens_(tokens) {}

  Declarations run() {
    while (at_ < tokens_.size()) step();
    return std::move(found_);
  }

 private:
  struct Scope {
    std::string name;  // "a::b::", or empty
    bool is_local;
  };

  void step() {
    const Token& token = tokens_[at_];
    if (token.is("}")) {
      if (!scopes_.empty()) scopes_.pop_back();
      ++at_;
    } else if (token.is(";")) {
      ++at_;
    } else if (token.is("namespace") || (token.is("inline") && next_is("namespace"))) {
      enter_namespace();
    } else if (token.is("extern") && at_ + 2 < tokens_.size() && tokens_[at_ + 1].kind == Token::Kind::literal &&
               tokens_[at_ + 2].is("{")) {
      scopes_.push_back({"", false});
      at_ += 3;
    } else {
      declaration();
    }
  }

  bool next_is(std::string_view word) const { return at_ + 1 < tokens_.size() && tokens_[at_ + 1].is(word); }

  void enter_namespace() {
    std::string name;
    for (; at_ < tokens_.size() && !tokens_[at_].is("{") && !tokens_[at_].is(";"); ++at_)
      if (!tokens_[at_].is("namespace") && !tokens_[at_].is("inline")) name += tokens_[at_].text;
    if (at_ == tokens_.size()) return;
    if (tokens_[at_++].is("{")) scopes_.push_back({name.empty() ? "" : name + "::", name.empty()});
  }

  // To the next ';' or body.
  void declaration() {
    Tokens tokens, template_parameters;
    bool is_template = false, is_definition = false;
    while (at_ < tokens_.size()) {
      const Token& token = tokens_[at_];
      if (token.is("template") && next_is("<")) {
        is_template = true;
        const std::size_t begin = at_ + 2;
        at_ = behind_angle(tokens_, at_ + 1);
        template_parameters.assign(tokens_.begin() + static_cast<std::ptrdiff_t>(std::min(begin, at_ - 1)),
                                   tokens_.begin() + static_cast<std::ptrdiff_t>(at_ - 1));
      } else if (token.is(";")) {
        ++at_;
        break;
      } else if (token.is("}")) {
        break;
      } else if (token.is("{")) {
        at_ = behind_bracket(tokens_, at_);
        // After a class or an initialiser the declaration goes on to its ';'.
        if (contains(tokens, "(") && !contains(tokens, "=")) {
          is_definition = true;
          break;
        }
      } else if (token.is("(") || token.is("[")) {
        const std::size_t end = behind_bracket(tokens_, at_);
        tokens.insert(tokens.end(), tokens_.begin() + static_cast<std::ptrdiff_t>(at_),
                      tokens_.begin() + static_cast<std::ptrdiff_t>(end));
        at_ = end;
      } else {
        tokens.push_back(token);
        ++at_;
      }
    }
    const std::size_t before = found_.functions.size();
    keep(without_attributes(tokens), is_template, is_definition);
    if (found_.functions.size() > before) found_.functions.back().template_parameters = std::move(template_parameters);
  }

  void keep(const Tokens& tokens, bool is_template, bool is_definition) {
    if (tokens.size() > 3 && tokens[0].is("using") && tokens[2].is("=")) {
      found_.aliases[tokens[1].text] = Tokens(tokens.begin() + 3, tokens.end());
      return;
    }
    if (tokens.size() > 2 && tokens[0].is("typedef") && tokens.back().is_identifier()) {
      found_.aliases[tokens.back().text] = Tokens(tokens.begin() + 1, tokens.end() - 1);
      return;
    }
    const auto open = std::find_if(tokens.begin(), tokens.end(), [](const Token& token) { return token.is("("); });
    if (open == tokens.begin() || open == tokens.end() || !(open - 1)->is_identifier()) return;
    auto name = open - 1;
    while (name - tokens.begin() >= 2 && (name - 1)->is("::") && (name - 2)->is_identifier()) name -= 2;
    const auto end = tokens.begin() + static_cast<std::ptrdiff_t>(
                                          behind_bracket(tokens, static_cast<std::size_t>(open - tokens.begin())));
    if (!(end - 1)->is(")")) return;  // the source ends within it
    FunctionDeclaration function;
    bool is_local = false;
    for (const Scope& scope : scopes_) {
      function.name += scope.name;
      is_local = is_local || scope.is_local;
    }
    function.line = name->line;
    for (auto part = name; part != open; ++part) function.name += part->text;
    function.before.assign(tokens.begin(), name);
    if (open + 1 < end) function.parameters.assign(open + 1, end - 1);
    function.after.assign(end, tokens.end());
    function.is_definition = is_definition;
    function.is_template = is_template;
    function.is_local = is_local || contains(function.before, "static");
    found_.functions.push_back(std::move(function));
  }

  const Tokens& tokens_;
  std::size_t at_ = 0;
  std::vector<Scope> scopes_;
  Declarations found_;
};

}  // namespace

Declarations find_declarations(const std::vector<Token>& tokens) {
  return Scanner(tokens).run();
}

}  // namespace kagent::spec
