// SPDX-License-Identifier: Apache-2.0
#include "proposer/prompt_text.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "proposer/embedded.h"
#include "util/text.h"
#include "values/error.h"

namespace kagent::proposer {

std::string fill(std::string_view template_name, const Fields& fields) {
  const std::string_view text = embedded_file(template_name);
  if (text.empty()) throw InternalError("no template " + std::string(template_name));
  std::string result;
  std::set<std::string_view> used;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t open = std::min(text.find("{{", at), text.size());
    result += text.substr(at, open - at);
    if (open == text.size()) break;
    const std::size_t close = text.find("}}", open);
    const std::string_view name = text.substr(open + 2, std::min(close, text.size()) - open - 2);
    const auto field = fields.find(name);
    if (close == text.npos || field == fields.end())
      throw InternalError(std::string(template_name) + " names " + std::string(name) + ", which has no text");
    used.insert(name);
    result += field->second;
    at = close + 2;
  }
  if (used.size() != fields.size()) throw InternalError(std::string(template_name) + " leaves a text out");
  return result;
}

std::string fenced(std::string_view untrusted, std::string_view language) {
  const std::string text = util::clean(untrusted, untrusted.size());
  std::size_t longest = 0, run = 0;
  for (const char c : text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  const std::string fence(std::max<std::size_t>(3, longest + 1), '`');
  return fence + std::string(language) + "\n" + text + (text.empty() || text.ends_with('\n') ? "" : "\n") + fence;
}

std::string on_one_line(std::string_view untrusted, std::size_t most) {
  std::string text = util::clean(untrusted.substr(0, 8 * most), most);
  for (char& c : text)
    if (c == '\n' || c == '\t') c = ' ';
  std::ranges::replace(text, '`', '\'');
  if (text.size() + 8 >= most && untrusted.size() > most) text += "...";
  return text;
}

std::string cut_lines(std::string_view text, std::size_t budget, bool* cut) {
  if (text.size() <= budget) return std::string(text);
  const std::size_t newline = text.rfind('\n', budget > 0 ? budget - 1 : 0);
  const std::size_t end = newline == text.npos ? 0 : newline + 1;
  const auto left =
      std::count(text.begin() + static_cast<std::ptrdiff_t>(end), text.end(), '\n') + (text.ends_with('\n') ? 0 : 1);
  if (cut != nullptr) *cut = true;
  return std::string(text.substr(0, end)) + "(" + std::to_string(left) + " more lines are left out)\n";
}

std::string cut_source(std::string_view source, std::string_view entry, std::size_t budget, bool* cut) {
  // What is in front declares what the rest uses; most of the budget is for the rest.
  constexpr std::size_t kHeadShare = 4, kBeforeShare = 3;
  const std::size_t colons = entry.rfind("::");
  const std::string call = std::string(colons == entry.npos ? entry : entry.substr(colons + 2)) + "(";
  const std::size_t place = call.size() > 1 ? source.rfind(call) : source.npos;
  if (source.size() <= budget || place == source.npos) return cut_lines(source, budget, cut);
  const auto line_begin = [&](std::size_t at) {
    const std::size_t newline = at == 0 ? source.npos : source.rfind('\n', at - 1);
    return newline == source.npos ? 0 : newline + 1;
  };
  const std::size_t head = line_begin(budget / kHeadShare), body = budget - head;
  const std::size_t wanted = std::min(place - std::min(place, body / kBeforeShare), source.size() - body);
  // A whole line on, or the last one would not fit.
  const std::size_t begin = std::min(source.find('\n', wanted) + 1, line_begin(place));
  if (begin <= head) return cut_lines(source, budget, cut);
  const auto left = std::count(source.begin() + static_cast<std::ptrdiff_t>(head),
                               source.begin() + static_cast<std::ptrdiff_t>(begin), '\n');
  if (cut != nullptr) *cut = true;
  return std::string(source.substr(0, head)) + "(" + std::to_string(left) + " lines are left out here)\n" +
         cut_lines(source.substr(begin), body);
}

std::string speedup(double ratio) {
  return ratio > 0 ? fmt::format("{:.3g}x", 1 / ratio) : "?";
}

}  // namespace kagent::proposer
