// SPDX-License-Identifier: Apache-2.0
#include "proposer/loose_json.h"

#include <array>
#include <utility>

namespace kagent::proposer {

namespace {

// Deeper than any answer; the reader behind keeps a level each.
constexpr std::size_t kDeepest = 64;
constexpr std::size_t kLongestName = 64;
constexpr std::size_t kLongestGap = 256;

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}
bool is_hex(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

struct Quote {
  std::string_view opening;
  std::string_view closing;
  bool raw = false;  // backslashes are text
};
// Longer spellings first. Typographic quotes may be mixed, so any of them closes what one opened.
constexpr std::array kQuotes = {Quote{"\"\"\"", "\"\"\"", true},
                                Quote{"\"", "\""},
                                Quote{"\xE2\x80\x9C", "\xE2\x80\x9D"},
                                Quote{"\xE2\x80\x9D", "\xE2\x80\x9D"},
                                Quote{"\xE2\x80\x9E", "\xE2\x80\x9D"},
                                Quote{"'", "'"},
                                Quote{"`", "`", true}};

const Quote* quote_at(std::string_view rest) {
  for (const Quote& quote : kQuotes)
    if (rest.starts_with(quote.opening)) return &quote;
  return nullptr;
}

std::size_t past_blanks(std::string_view text, std::size_t at) {
  const std::size_t most = std::min(text.size(), at + kLongestGap);
  while (at < most && is_blank(text[at])) ++at;
  return at;
}

// Whether a brace begins an object and not a block of code.
bool begins_object(std::string_view text, std::size_t brace) {
  std::size_t at = past_blanks(text, brace + 1);
  const Quote* quote = at < text.size() ? quote_at(text.substr(at)) : nullptr;
  if (quote == nullptr || quote->raw) return false;
  at += quote->opening.size();
  const std::size_t name = at;
  while (at < text.size() && at - name < kLongestName && (is_letter(text[at]) || text[at] == ' ' || text[at] == '-'))
    ++at;
  if (at == name) return false;
  // A text that ends here may have been cut in its first name.
  const std::string_view rest = text.substr(at);
  if (rest.empty()) return true;
  if (!rest.starts_with(quote->closing) && !rest.starts_with("\"")) return false;
  at = past_blanks(text, at + (rest.starts_with(quote->closing) ? quote->closing.size() : 1));
  return at >= text.size() || text[at] == ':';
}

class Scanner {
 public:
  Scanner(std::string_view text, std::size_t begin) : text_(text), at_(begin) { object_.begin = begin; }

  LooseObject run() {
    while (at_ < text_.size() && !object_.closed) step();
    object_.end = at_;
    return std::move(object_);
  }

 private:
  void put(char c) {
    object_.strict += c;
    if (!is_blank(c)) last_ = c;
  }
  void put(std::string_view text) {
    for (const char c : text) put(c);
  }

  void step() {
    const std::string_view rest = text_.substr(at_);
    const char c = rest[0];
    if (rest.starts_with("//")) {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (rest.starts_with("/*")) {
      const std::size_t end = text_.find("*/", at_ + 2);
      at_ = end == text_.npos ? text_.size() : end + 2;
    } else if (const Quote* quote = quote_at(rest)) {
      read_string(*quote);
    } else if (is_letter(c)) {
      read_word();
    } else {
      ++at_;
      read_sign(c);
    }
  }

  void read_sign(char c) {
    if (c == '{' || c == '[') {
      // Beyond the limit the text no longer is an answer; what is behind stays unread.
      if (++depth_ > kDeepest) at_ = text_.size();
    } else if (c == '}' || c == ']') {
      if (last_ == ',') object_.strict.erase(object_.strict.rfind(','));
      if (depth_ > 0) --depth_;
      object_.closed = depth_ == 0;
    } else if (static_cast<unsigned char>(c) < 0x20 && !is_blank(c)) {
      return;
    }
    put(c);
  }

  void read_word() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_letter(text_[at_])) ++at_;
    const std::string_view word = text_.substr(begin, at_ - begin);
    if (word == "None" || word == "NaN" || word == "undefined" || word == "Infinity")
      put("null");
    else if (word == "True")
      put("true");
    else if (word == "False")
      put("false");
    else
      put(word);
  }

  bool at_closing(const Quote& quote) const {
    const std::string_view rest = text_.substr(at_);
    if (rest.starts_with(quote.closing)) {
      // An apostrophe inside of a text in single quotes.
      if (quote.closing != "'") return true;
      const std::size_t behind = past_blanks(text_, at_ + 1);
      return behind >= text_.size() || std::string_view(",:}]").find(text_[behind]) != std::string_view::npos;
    }
    return quote.opening.size() == 3 && !quote.raw && rest.starts_with("\"");
  }

  void read_string(const Quote& quote) {
    put('"');
    at_ += quote.opening.size();
    while (at_ < text_.size()) {
      if (at_closing(quote)) {
        at_ += text_.substr(at_).starts_with(quote.closing) ? quote.closing.size() : 1;
        return put('"');
      }
      const char c = text_[at_++];
      if (c == '\\' && !quote.raw)
        read_escape();
      else if (c == '\\' || c == '"')
        object_.strict += {'\\', c};
      else if (c == '\n')
        object_.strict += "\\n";
      else if (c == '\t')
        object_.strict += "\\t";
      else if (static_cast<unsigned char>(c) >= 0x20)
        object_.strict += c;
    }
  }

  // Behind a backslash. One that begins no escape of JSON is text.
  void read_escape() {
    if (at_ >= text_.size()) return;
    const char c = text_[at_];
    if (c == 'u') {
      bool valid = at_ + 4 < text_.size();
      for (std::size_t i = 1; valid && i <= 4; ++i) valid = is_hex(text_[at_ + i]);
      object_.strict += valid ? "\\u" : "\\\\u";
      ++at_;
    } else if (std::string_view("\"\\/bfnrt").find(c) != std::string_view::npos) {
      object_.strict += {'\\', c};
      ++at_;
    } else if (c == '\'' || c == '`') {
      object_.strict += c;
      ++at_;
    } else {
      object_.strict += "\\\\";
    }
  }

  std::string_view text_;
  std::size_t at_;
  std::size_t depth_ = 0;
  char last_ = '\0';  // the last sign that is no blank
  LooseObject object_;
};

}  // namespace

std::optional<LooseObject> next_object(std::string_view text, std::size_t from) {
  for (std::size_t at = text.find('{', from); at != text.npos; at = text.find('{', at + 1))
    if (begins_object(text, at)) return Scanner(text, at).run();
  return std::nullopt;
}

}  // namespace kagent::proposer
