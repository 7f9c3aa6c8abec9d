// SPDX-License-Identifier: Apache-2.0
#include "toolchain/diagnostics.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "toolchain/lines.h"
#include "util/text.h"

namespace kagent::toolchain {

namespace {

// One page of text: what fits into a record and a model's repair prompt. More errors than this follow from the first.
constexpr std::size_t kMostErrors = 8, kMostWarnings = 4, kMostNotes = 2;
constexpr std::size_t kLongestLine = 240;
constexpr std::size_t kMostBytes = 6 * 1024;
// How much of the raw output is looked at. Template errors reach megabytes; their first errors are in front.
constexpr std::size_t kMostRawBytes = 512 * 1024;

enum class Severity { error, warning, note };

struct Message {
  Severity severity = Severity::error;
  std::string file;  // empty: of the compiler or linker itself
  long line = 0;
  std::string shown;              // "file:line:column: error: text"
  std::vector<std::string> code;  // the compiler's own excerpt
};

std::string cut(std::string_view line) {
  return util::clean(line, kLongestLine);
}

struct Marker {
  std::string_view word;
  Severity severity;
};
constexpr std::array<Marker, 5> kMarkers = {{{"fatal error: ", Severity::error},
                                             {"internal compiler error: ", Severity::error},
                                             {"error: ", Severity::error},
                                             {"warning: ", Severity::warning},
                                             {"note: ", Severity::note}}};

// Number between the last two colons of "file:12:" (the colon removed from `text`), or nothing.
std::optional<long> take_number(std::string_view& text) {
  if (!text.ends_with(':')) return std::nullopt;
  const std::string_view without = text.substr(0, text.size() - 1);
  const std::size_t colon = without.rfind(':');
  if (colon == without.npos) return std::nullopt;
  long number = 0;
  const char* end = without.data() + without.size();
  const auto [stop, error] = std::from_chars(without.data() + colon + 1, end, number);
  if (error != std::errc() || stop != end) return std::nullopt;
  text = text.substr(0, colon + 1);
  return number;
}

// A line such as "/w/k.cpp:3:5: error: ..." or "cc1plus: error: ...". The place ends where the class begins.
std::optional<Message> parse_message(std::string_view line, const DiagnosticsContext& context) {
  for (const Marker& marker : kMarkers) {
    const std::size_t at = line.find(marker.word);
    if (at == line.npos || at < 2 || line.substr(at - 2, 2) != ": ") continue;
    std::string_view place = line.substr(0, at - 1);
    Message message{marker.severity, {}, 0, {}, {}};
    std::string position;
    if (const auto last = take_number(place)) {
      const auto before = take_number(place);
      message.line = before.value_or(*last);
      position = ":" + std::to_string(message.line) + (before ? ":" + std::to_string(*last) : "");
      message.file = place.substr(0, place.size() - 1);
    }
    const std::string file =
        message.file == context.source_path ? context.source_name : std::string(place.substr(0, place.size() - 1));
    message.shown = cut(file + position + ": " + std::string(line.substr(at)));
    return message;
  }
  return std::nullopt;
}

bool is_excerpt(std::string_view line) {
  return !line.empty() && line.front() == ' ' && line.find('|') != line.npos && line.find('|') < 12;
}

std::vector<Message> parse_messages(std::string_view output, const DiagnosticsContext& context) {
  std::vector<Message> messages;
  for (const std::string_view line : split_lines(output)) {
    if (auto message = parse_message(line, context))
      messages.push_back(*std::move(message));
    else if (!messages.empty() && is_excerpt(line) && messages.back().code.size() < 2)
      messages.back().code.push_back(cut(line));
  }
  return messages;
}

// Three lines of the source around `line`, the line itself marked.
std::string code_around(const std::vector<std::string_view>& source, long line) {
  std::string text;
  for (long number = std::max(1L, line - 1); number <= line + 1 && number <= static_cast<long>(source.size()); ++number)
    text += (number == line ? "  > " : "    ") + std::to_string(number) + " | " +
            cut(source[static_cast<std::size_t>(number) - 1]) + "\n";
  return text;
}

std::string render(const Message& message, const std::vector<std::string_view>& source,
                   const DiagnosticsContext& context) {
  std::string text = message.shown + "\n";
  const bool own = message.file == context.source_path || message.file == context.source_name;
  if (own && message.line > 0) return text + code_around(source, message.line);
  for (const std::string& line : message.code) text += "  " + line + "\n";
  return text;
}

}  // namespace

std::string distil(std::string_view output, const DiagnosticsContext& context) {
  const std::string raw = util::clean(output, kMostRawBytes);
  const std::vector<Message> messages = parse_messages(raw, context);
  const std::vector<std::string_view> source = split_lines(context.source_text);
  std::string text;
  std::vector<std::string> seen;
  const auto add = [&](Severity severity, std::size_t most) {
    std::size_t count = 0, left_out = 0, notes = kMostNotes;
    for (const Message& message : messages) {
      const bool note = message.severity == Severity::note;
      if (note ? notes >= kMostNotes : message.severity != severity) continue;
      if (!note) {
        notes = kMostNotes;
        if (std::ranges::find(seen, message.shown) != seen.end()) continue;
        if (count++ >= most) {
          ++left_out;
          continue;
        }
        seen.push_back(message.shown);
        notes = 0;
      } else {
        ++notes;
      }
      text += render(message, source, context);
    }
    if (left_out > 0)
      text += "(" + std::to_string(left_out) + " more " + (severity == Severity::error ? "errors" : "warnings") + ")\n";
  };
  add(Severity::error, kMostErrors);
  const bool failed = !text.empty();
  add(Severity::warning, failed ? 2 : kMostWarnings);
  if (text.empty()) text = raw;
  return util::clean(text, kMostBytes);
}

std::vector<std::string> undefined_references(std::string_view output) {
  constexpr std::array<std::string_view, 2> kPhrases = {"undefined reference to ", "undefined symbol: "};
  std::vector<std::string> names;
  for (const std::string_view line : split_lines(output.substr(0, kMostRawBytes))) {
    for (const std::string_view phrase : kPhrases) {
      const std::size_t at = line.find(phrase);
      if (at == line.npos) continue;
      std::string name = cut(line.substr(at + phrase.size()));
      if (name.starts_with('`') || name.starts_with('\'')) name.erase(0, 1);
      if (name.ends_with('\'')) name.pop_back();
      if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
    }
  }
  return names;
}

bool wants_no_pie(std::string_view output) {
  return output.find("when making a PIE object") != output.npos || output.find("recompile with -fPIE") != output.npos ||
         output.find("recompile with -fPIC") != output.npos;
}

}  // namespace kagent::toolchain
