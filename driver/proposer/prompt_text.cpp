// SPDX-License-Identifier: Apache-2.0
#include "proposer/prompt_text.h"

#include <algorithm>
#include <set>

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

}  // namespace kagent::proposer
