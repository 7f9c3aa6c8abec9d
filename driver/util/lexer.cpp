// SPDX-License-Identifier: Apache-2.0
#include "util/lexer.h"

#include <algorithm>
#include <array>

namespace kagent::util {

namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_name_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' ||
         static_cast<unsigned char>(c) >= 0x80;
}
bool is_name(char c) {
  return is_name_start(c) || is_digit(c);
}
bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\v' || c == '\f' || c == '\r';
}

struct Digraph {
  std::string_view spelling, meaning;
};
constexpr std::array<Digraph, 6> kDigraphs = {
    {{"%:%:", "##"}, {"%:", "#"}, {"<%", "{"}, {"%>", "}"}, {"<:", "["}, {":>", "]"}}};
// Spellings that must not be taken apart, because a part means something else to a rule. "<<" and ">>" stay two tokens:
// the latter also closes templates.
constexpr std::array<std::string_view, 16> kJoined = {"##", "::", "->", "==", "!=", "<=", ">=", "&&",
                                                      "||", "+=", "-=", "*=", "/=", "|=", "&=", "^="};

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  LexedSource run() {
    while (skip_blank()) read_token();
    return std::move(result_);
  }

 private:
  // The character `ahead` of the current one, line continuations passed over; 0 at the end.
  char peek(std::size_t ahead = 0) const {
    std::size_t at = past_continuations(at_);
    for (; ahead > 0 && at < text_.size(); --ahead) at = past_continuations(at + 1);
    return at < text_.size() ? text_[at] : '\0';
  }
  bool at_end() const { return past_continuations(at_) >= text_.size(); }
  bool looking_at(std::string_view spelling) const {
    for (std::size_t i = 0; i < spelling.size(); ++i)
      if (peek(i) != spelling[i]) return false;
    return true;
  }
  // A backslash, blanks and a newline; GCC takes the blanks too.
  std::size_t past_continuations(std::size_t at) const {
    while (at < text_.size() && text_[at] == '\\') {
      std::size_t end = at + 1;
      while (end < text_.size() && is_space(text_[end])) ++end;
      if (end >= text_.size() || text_[end] != '\n') break;
      at = end + 1;
    }
    return at;
  }
  char take() {
    const std::size_t at = past_continuations(at_);
    line_ += static_cast<int>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(at_),
                                         text_.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
    const char c = text_[at];
    if (c == '\n') ++line_;
    at_ = at + 1;
    return c;
  }
  void take(std::size_t count) {
    for (; count > 0; --count) take();
  }

  // To the next token, over blanks and comments. False at the end.
  bool skip_blank() {
    while (!at_end()) {
      if (peek() == '\n') {
        line_start_ = true;
        take();
      } else if (is_space(peek()) || peek() == '\0') {
        take();
      } else if (looking_at("//")) {
        while (!at_end() && peek() != '\n') {
          // The one trigraph that matters in a comment: it continues the line.
          if (looking_at("?"
                         "?/"))
            note_trigraph();
          take();
        }
      } else if (looking_at("/*")) {
        take(2);
        while (!at_end() && !looking_at("*/")) take();
        if (!at_end()) take(2);
      } else {
        return true;
      }
    }
    return false;
  }

  void note_trigraph() {
    if (result_.trigraph_line == 0) result_.trigraph_line = line_;
  }
  bool at_trigraph() const {
    return peek() == '?' && peek(1) == '?' && std::string_view("=/'()!<>-").find(peek(2)) != std::string_view::npos;
  }

  void read_token() {
    // Continuations in front of the token belong to the lines before it.
    const std::size_t at = past_continuations(at_);
    line_ += static_cast<int>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(at_),
                                         text_.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
    at_ = at;
    Token token;
    token.line = line_;
    token.starts_line = line_start_;
    line_start_ = false;
    if (at_trigraph()) note_trigraph();
    if (peek() == '<' && after_include())
      read_header(token);
    else if (is_name_start(peek()))
      read_name(token);
    else if (is_digit(peek()) || (peek() == '.' && is_digit(peek(1))))
      read_number(token);
    else if (peek() == '"' || peek() == '\'')
      read_quoted(token);
    else
      read_punctuation(token);
    result_.tokens.push_back(std::move(token));
  }

  // Whether the last tokens are the beginning of a directive that takes a header's name.
  bool after_include() const {
    const auto& tokens = result_.tokens;
    if (tokens.size() < 2 || !tokens[tokens.size() - 2].is("#") || !tokens[tokens.size() - 2].starts_line) return false;
    const std::string& name = tokens.back().text;
    return name == "include" || name == "include_next" || name == "import" || name == "embed";
  }
  void read_header(Token& token) {
    token.kind = TokenKind::string;
    while (!at_end() && peek() != '\n' && peek() != '>') token.text += take();
    if (peek() == '>') token.text += take();
  }
  void read_name(Token& token) {
    token.kind = TokenKind::identifier;
    while (!at_end() && is_name(peek())) token.text += take();
    const bool prefix =
        token.text == "R" || token.text == "LR" || token.text == "uR" || token.text == "UR" || token.text == "u8R";
    if (prefix && peek() == '"') return read_raw(token);
    const bool encoding = token.text == "L" || token.text == "u" || token.text == "U" || token.text == "u8";
    if (encoding && (peek() == '"' || peek() == '\'')) read_quoted(token);
  }
  void read_number(Token& token) {
    token.kind = TokenKind::number;
    while (!at_end()) {
      const char c = peek();
      const bool exponent =
          !token.text.empty() && std::string_view("eEpP").find(token.text.back()) != std::string_view::npos;
      const bool separator = c == '\'' && is_name(peek(1));
      if (!is_name(c) && c != '.' && !separator && !(exponent && (c == '+' || c == '-'))) break;
      token.text += take();
    }
  }
  // A string or character literal; one that is not closed ends with its line.
  void read_quoted(Token& token) {
    const char quote = take();
    token.kind = quote == '"' ? TokenKind::string : TokenKind::character;
    token.text += quote;
    while (!at_end() && peek() != '\n') {
      if (at_trigraph()) note_trigraph();
      const char c = take();
      token.text += c;
      if (c == quote) return;
      if (c == '\\' && !at_end() && peek() != '\n') token.text += take();
    }
  }
  // R"end( ... )end": no continuations, no escapes.
  void read_raw(Token& token) {
    token.kind = TokenKind::string;
    at_ = past_continuations(at_);
    const std::size_t open = text_.find('(', at_);
    std::size_t end = text_.size();
    if (open != text_.npos) {
      const std::string close = ")" + std::string(text_.substr(at_ + 1, open - at_ - 1)) + "\"";
      if (const std::size_t found = text_.find(close, open); found != text_.npos) end = found + close.size();
    }
    token.text += text_.substr(at_, end - at_);
    line_ += static_cast<int>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(at_),
                                         text_.begin() + static_cast<std::ptrdiff_t>(end), '\n'));
    at_ = end;
  }
  void read_punctuation(Token& token) {
    token.kind = TokenKind::punctuation;
    // "<::" is '<' and "::", unless ':' or '>' follows.
    if (looking_at("<::") && peek(3) != ':' && peek(3) != '>') {
      token.text = take();
      return;
    }
    for (const Digraph& digraph : kDigraphs) {
      if (!looking_at(digraph.spelling)) continue;
      token.text = digraph.meaning;
      return take(digraph.spelling.size());
    }
    for (const std::string_view joined : kJoined) {
      if (!looking_at(joined)) continue;
      token.text = joined;
      return take(joined.size());
    }
    token.text = take();
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int line_ = 1;
  bool line_start_ = true;
  LexedSource result_;
};

}  // namespace

LexedSource lex(std::string_view text) {
  LexedSource source = Lexer(text).run();
  match_brackets(source.tokens);
  return source;
}

void match_brackets(std::vector<Token>& tokens) {
  constexpr std::string_view kOpening = "([{", kClosing = ")]}";
  std::array<std::vector<std::size_t>, 3> open;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].kind != TokenKind::punctuation || tokens[i].text.size() != 1) continue;
    if (const std::size_t kind = kOpening.find(tokens[i].text); kind != kOpening.npos) {
      tokens[i].past = tokens.size();
      open[kind].push_back(i);
    } else if (const std::size_t closed = kClosing.find(tokens[i].text);
               closed != kClosing.npos && !open[closed].empty()) {
      tokens[open[closed].back()].past = i + 1;
      open[closed].pop_back();
    }
  }
}

std::string spelled(const std::vector<Token>& tokens, std::size_t begin, std::size_t end) {
  std::string text;
  for (std::size_t i = begin; i < end && i < tokens.size(); ++i) text += (i > begin ? " " : "") + tokens[i].text;
  return text;
}

}  // namespace kagent::util
