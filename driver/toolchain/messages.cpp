// SPDX-License-Identifier: Apache-2.0
#include "toolchain/messages.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "toolchain/lines.h"
#include "util/text.h"

namespace kagent::toolchain {

namespace {

constexpr std::size_t kLongestLine = 240;
// Lines of explanation that nvcc prints between a message and its code ("argument types are: (float, int)").
constexpr std::size_t kMostDetails = 3;

struct Marker {
  std::string_view word;
  Severity severity;
};
constexpr std::array<Marker, 6> kMarkers = {{{"fatal error: ", Severity::error},
                                             {"catastrophic error: ", Severity::error},
                                             {"internal compiler error: ", Severity::error},
                                             {"error: ", Severity::error},
                                             {"warning: ", Severity::warning},
                                             {"note: ", Severity::note}}};
// Of nvcc's front end, with a number: "warning #177-D: ".
constexpr std::array<Marker, 3> kNumberedMarkers = {
    {{"error #", Severity::error}, {"warning #", Severity::warning}, {"note #", Severity::note}}};
// "ptxas error   : ", "nvlink fatal   : ": the class is filled up to a width.
constexpr std::array<Marker, 3> kToolClasses = {
    {{"error", Severity::error}, {"fatal", Severity::error}, {"warning", Severity::warning}}};
constexpr std::array<std::string_view, 5> kTools = {"ptxas", "nvlink", "nvcc", "fatbinary", "cicc"};

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

// The same of "file(12):", which becomes "file:".
std::optional<long> take_number_in_brackets(std::string_view& text, std::string& file) {
  if (!text.ends_with("):")) return std::nullopt;
  const std::size_t bracket = text.rfind('(');
  if (bracket == text.npos) return std::nullopt;
  long number = 0;
  const char* end = text.data() + text.size() - 2;
  const auto [stop, error] = std::from_chars(text.data() + bracket + 1, end, number);
  if (error != std::errc() || stop != end) return std::nullopt;
  file = std::string(text.substr(0, bracket)) + ":";
  text = file;
  return number;
}

// Where the class of a message begins, how long it is up to the message's text, and what it is.
struct Class {
  std::size_t at = 0, length = 0;
  Severity severity = Severity::error;
};

std::optional<Class> find_class(std::string_view line) {
  const auto begins_there = [&](std::size_t at) {
    return at != line.npos && at >= 2 && line.substr(at - 2, 2) == ": ";
  };
  for (const Marker& marker : kMarkers)
    if (const std::size_t at = line.find(marker.word); begins_there(at))
      return Class{at, marker.word.size(), marker.severity};
  for (const Marker& marker : kNumberedMarkers) {
    const std::size_t at = line.find(marker.word);
    const std::size_t end = begins_there(at) ? line.find(": ", at) : line.npos;
    if (end != line.npos && end - at < 24) return Class{at, end + 2 - at, marker.severity};
  }
  return std::nullopt;
}

// A line such as "/w/k.cpp:3:5: error: ...", "/w/k.cu(3): error: ..." or "cc1plus: error: ...".
std::optional<Message> parse_placed(std::string_view line, const DiagnosticsContext& context) {
  const auto found = find_class(line);
  if (!found) return std::nullopt;
  std::string_view place = line.substr(0, found->at - 1);
  Message message{found->severity, {}, 0, std::string(line.substr(found->at + found->length)), {}, {}};
  std::string position, in_brackets;
  if (const auto only = take_number_in_brackets(place, in_brackets)) {
    message.line = *only;
    position = ":" + std::to_string(*only);
    message.file = place.substr(0, place.size() - 1);
  } else if (const auto last = take_number(place)) {
    const auto before = take_number(place);
    message.line = before.value_or(*last);
    position = ":" + std::to_string(message.line) + (before ? ":" + std::to_string(*last) : "");
    message.file = place.substr(0, place.size() - 1);
  }
  const std::string file =
      message.file == context.source_path ? context.source_name : std::string(place.substr(0, place.size() - 1));
  message.shown = cut_line(file + position + ": " + std::string(line.substr(found->at)));
  return message;
}

// A line such as "ptxas error   : ..." or "ptxas /tmp/k.ptx, line 23; error   : ...".
std::optional<Message> parse_tool(std::string_view line) {
  const auto tool = std::ranges::find_if(kTools, [&](std::string_view name) {
    return line.starts_with(name) && line.size() > name.size() && line[name.size()] == ' ';
  });
  if (tool == kTools.end()) return std::nullopt;
  std::string_view rest = line.substr(tool->size() + 1);
  if (const std::size_t place = rest.find("; "); rest.find(", line ") < place && place != rest.npos)
    rest.remove_prefix(place + 2);
  for (const Marker& known : kToolClasses) {
    if (!rest.starts_with(known.word)) continue;
    const std::size_t colon = rest.find_first_not_of(' ', known.word.size());
    if (colon == rest.npos || rest[colon] != ':') continue;
    const std::string text(rest.substr(std::min(rest.size(), colon + 2)));
    const std::string_view word = known.severity == Severity::warning ? "warning" : "error";
    return Message{
        known.severity, {}, 0, text, cut_line(std::string(*tool) + ": " + std::string(word) + ": " + text), {}};
  }
  return std::nullopt;
}

// What GNU ld says of a symbol, without the word "error": "a.cpp:(.text+0x5): undefined reference to `g(int)'".
std::optional<Message> parse_linker(std::string_view line) {
  for (const std::string_view phrase : {"undefined reference to `", "multiple definition of `"}) {
    const std::size_t at = line.find(phrase);
    if (at == line.npos) continue;
    const std::string text(line.substr(at, line.find("; ", at) - at));
    return Message{Severity::error, {}, 0, text, cut_line("ld: error: " + text), {}};
  }
  return std::nullopt;
}

// That a tool gave up, which its messages have told.
bool is_of_the_end(std::string_view line) {
  constexpr std::array<std::string_view, 3> kEnds = {": error: ld returned ", ": error: linker command failed",
                                                     "Ptx assembly aborted due to errors"};
  return std::ranges::any_of(kEnds, [&](std::string_view end) { return line.find(end) != line.npos; });
}

bool is_excerpt(std::string_view line) {
  return !line.empty() && line.front() == ' ' && line.find('|') != line.npos && line.find('|') < 12;
}

// nvcc explains with twelve spaces in front, shows code with two, and ends it with a caret.
bool is_detail(std::string_view line) {
  constexpr std::string_view kIndent = "            ";
  return line.starts_with(kIndent) && line.size() > kIndent.size() && line[kIndent.size()] != ' ' &&
         line.find_first_not_of(" ^~") != line.npos;
}

}  // namespace

std::string cut_line(std::string_view line) {
  return util::clean(line, kLongestLine);
}

std::vector<Message> parse_messages(std::string_view output, const DiagnosticsContext& context) {
  std::vector<Message> messages;
  std::size_t details = 0;
  for (const std::string_view line : split_lines(output)) {
    if (is_of_the_end(line)) continue;
    auto message = parse_tool(line);
    if (!message) message = parse_placed(line, context);
    if (!message) message = parse_linker(line);
    if (message) {
      messages.push_back(*std::move(message));
      details = 0;
    } else if (messages.empty()) {
      continue;
    } else if (is_excerpt(line) && messages.back().code.size() < 2) {
      messages.back().code.push_back(cut_line(line));
    } else if (is_detail(line) && details < kMostDetails && messages.back().code.empty()) {
      ++details;
      const std::string detail = "; " + std::string(line.substr(line.find_first_not_of(' ')));
      messages.back().text += detail;
      messages.back().shown = cut_line(messages.back().shown + detail);
    }
  }
  return messages;
}

bool is_of_source(const Message& message, const DiagnosticsContext& context) {
  return message.line > 0 && (message.file == context.source_path || message.file == context.source_name);
}

std::string code_around(std::string_view source, long line) {
  const std::vector<std::string_view> lines = split_lines(source);
  if (line < 1 || line > static_cast<long>(lines.size())) return {};
  std::string text;
  for (long number = std::max(1L, line - 1); number <= line + 1 && number <= static_cast<long>(lines.size()); ++number)
    text += (number == line ? "  > " : "    ") + std::to_string(number) + " | " +
            cut_line(lines[static_cast<std::size_t>(number) - 1]) + "\n";
  return text;
}

}  // namespace kagent::toolchain
