// SPDX-License-Identifier: Apache-2.0
#include "util/text.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <ctime>

#include "util/edit_distance.h"

namespace kagent::util {

namespace {

constexpr std::uint32_t kInvalid = 0xFFFFFFFF;
constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

struct Character {
  std::uint32_t code;  // kInvalid for a byte that starts nothing valid
  std::size_t length;  // bytes, at least 1
};

// Decodes by the table of RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF.
Character decode(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4) return {kInvalid, 1};
  std::uint32_t code = lead & (0x7Fu >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if (i >= text.size() || (byte(i) & 0xC0) != 0x80) return {kInvalid, i};
    code = code << 6 | (byte(i) & 0x3F);
    if (i > 1) continue;
    const bool overlong = (lead == 0xE0 && byte(1) < 0xA0) || (lead == 0xF0 && byte(1) < 0x90);
    if (overlong || (lead == 0xED && byte(1) > 0x9F) || (lead == 0xF4 && byte(1) > 0x8F)) return {kInvalid, 1};
  }
  return {code, length};
}

// Length of what follows ESC (or its one-character C1 form, `kind` being the character after ESC): ECMA-48, 5.4
// and 5.6.
std::size_t escape_length(char kind, std::string_view rest) {
  std::size_t i = 0;
  const auto skip = [&](char low, char high) {
    while (i < rest.size() && rest[i] >= low && rest[i] <= high) ++i;
  };
  if (kind == '[') {
    skip('\x20', '\x3F');
    if (i < rest.size() && rest[i] >= '\x40' && rest[i] <= '\x7E') ++i;
  } else if (kind == ']' || kind == 'P' || kind == 'X' || kind == '^' || kind == '_') {
    // A string up to BEL or ST. One that is never closed ends with its line, or it would swallow the whole log.
    while (i < rest.size() && rest[i] != '\a' && rest[i] != '\x1B' && rest[i] != '\n') ++i;
    if (i < rest.size() && rest[i] == '\a') ++i;
  } else if (kind >= '\x20' && kind <= '\x2F') {
    skip('\x20', '\x2F');
    if (i < rest.size() && rest[i] >= '\x30' && rest[i] <= '\x7E') ++i;
  }
  return i;
}

// Invisible characters that change the order in which text is shown, so that it reads as something else.
bool is_bidirectional_control(std::uint32_t code) {
  return (code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
}

}  // namespace

std::string clean(std::string_view untrusted, std::size_t limit_bytes) {
  std::string result;
  result.reserve(std::min(untrusted.size(), limit_bytes));
  std::size_t i = 0;
  while (i < untrusted.size()) {
    const auto [code, length] = decode(untrusted.substr(i));
    std::string_view bytes = untrusted.substr(i, length);
    i += length;
    if (code == 0x1B) {
      if (i == untrusted.size()) break;
      const char kind = untrusted[i];
      if (kind >= '\x20' && kind <= '\x7E') i += 1 + escape_length(kind, untrusted.substr(i + 1));
      continue;
    }
    if (code >= 0x80 && code <= 0x9F) {
      i += escape_length(static_cast<char>(code - 0x40), untrusted.substr(i));
      continue;
    }
    if (code == kInvalid) bytes = kReplacement;
    if ((code < 0x20 && code != '\n' && code != '\t') || code == 0x7F || is_bidirectional_control(code)) continue;
    if (result.size() + bytes.size() > limit_bytes) break;
    result += bytes;
  }
  return result;
}

std::vector<std::string> split_shell_words(std::string_view command) {
  std::vector<std::string> words;
  std::string word;
  bool in_word = false;
  char quote = 0;
  for (std::size_t i = 0; i < command.size(); ++i) {
    const char c = command[i];
    if (quote == '\'' || (quote == '"' && c != '\\')) {
      if (c == quote)
        quote = 0;
      else
        word += c;
    } else if (c == '\\' && i + 1 < command.size()) {
      const char next = command[++i];
      if (next == '\n') continue;
      if (quote == '"' && std::string_view("$`\"\\").find(next) == std::string_view::npos) word += c;
      word += next;
      in_word = true;
    } else if (c == '\'' || c == '"') {
      quote = c;
      in_word = true;
    } else if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      if (in_word) words.push_back(std::move(word));
      word.clear();
      in_word = false;
    } else {
      word += c;
      in_word = true;
    }
  }
  if (in_word) words.push_back(std::move(word));
  return words;
}

std::string quote_shell_words(const std::vector<std::string>& words) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./,:@%^";
  std::string line;
  for (const std::string& word : words) {
    if (!line.empty()) line += ' ';
    if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) {
      line += word;
      continue;
    }
    line += '\'';
    for (const char c : word) {
      if (c == '\'')
        line += "'\\''";
      else
        line += c;
    }
    line += '\'';
  }
  return line;
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  const std::size_t length = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return {text.data(), length};
}

namespace {

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

// Longer words are no names, and the distance costs the product of the lengths.
constexpr std::size_t kLongestName = 256;

}  // namespace

std::string nearest(std::string_view name, const std::vector<std::string>& candidates) {
  if (name.size() > kLongestName) return {};
  std::string best;
  std::size_t best_distance = kLongestName;
  for (const std::string& candidate : candidates) {
    if (candidate.size() > kLongestName) continue;
    const std::size_t distance =
        edit_distance(name, std::string_view(candidate), [](char a, char b) { return lower(a) == lower(b); });
    const std::size_t allowed = std::max<std::size_t>(1, std::max(name.size(), candidate.size()) / 3);
    if (distance > allowed || distance >= best_distance || distance >= candidate.size()) continue;
    best = candidate;
    best_distance = distance;
  }
  return best;
}

}  // namespace kagent::util
