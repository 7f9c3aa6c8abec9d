// SPDX-License-Identifier: Apache-2.0
#include "toolchain/diagnostics.h"

#include <algorithm>
#include <array>

#include "toolchain/lines.h"
#include "toolchain/messages.h"
#include "toolchain/ptxas_report.h"
#include "util/text.h"

namespace kagent::toolchain {

namespace {

// One page of text: what fits into a record and a model's repair prompt. More errors than this follow from the first.
constexpr std::size_t kMostErrors = 8, kMostWarnings = 4, kMostNotes = 2;
constexpr std::size_t kMostBytes = 6 * 1024;

std::string render(const Message& message, const DiagnosticsContext& context) {
  std::string text = message.shown + "\n";
  if (is_of_source(message, context)) return text + code_around(context.source_text, message.line);
  for (const std::string& line : message.code) text += "  " + line + "\n";
  return text;
}

}  // namespace

std::string_view counted_text(std::string_view text, std::string_view name) {
  constexpr std::string_view kStart = "\n#line 1 \"";
  const std::string line = std::string(kStart.substr(1)) + std::string(name) + "\"\n";
  std::size_t at = text.rfind(line);
  while (at != text.npos && at > 0 && text[at - 1] != '\n') at = text.rfind(line, at - 1);
  if (at == text.npos) return text;
  text.remove_prefix(at + line.size());
  const std::size_t end = text.find(kStart);
  return end == text.npos ? text : text.substr(0, end + 1);
}

std::string distil(std::string_view output, const DiagnosticsContext& context) {
  const std::string raw = util::clean(output, kMostRawBytes);
  const std::vector<Message> messages = parse_messages(raw, context);
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
      text += render(message, context);
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
  constexpr std::array<std::string_view, 4> kPhrases = {
      "undefined reference to ", "undefined symbol: ", "Undefined reference to ", "Unresolved extern function "};
  std::vector<std::string> names;
  for (const std::string_view line : split_lines(output.substr(0, kMostRawBytes))) {
    for (const std::string_view phrase : kPhrases) {
      const std::size_t at = line.find(phrase);
      if (at == line.npos) continue;
      std::string name = cut_line(line.substr(at + phrase.size()));
      if (name.starts_with('`') || name.starts_with('\'')) name.erase(0, 1);
      // nvlink: "'_Z5otherf' in '/tmp/k.o'".
      if (const std::size_t end = name.find("' in '"); end != name.npos) name.resize(end);
      if (name.ends_with('\'')) name.pop_back();
      name = demangled(name);
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
