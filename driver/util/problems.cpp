// SPDX-License-Identifier: Apache-2.0
#include "util/problems.h"

#include "util/text.h"

namespace kagent::util {
namespace {

// More than anybody reads at once.
constexpr std::size_t kMaxShown = 40;
constexpr std::size_t kMaxLine = 500;

}  // namespace

void Problems::add(const std::string& pointer, const std::string& problem, const std::string& fix) {
  std::string line = clean((pointer.empty() ? "/" : pointer) + ": " + problem + "; " + fix, kMaxLine);
  for (char& c : line)
    if (c == '\n' || c == '\t') c = ' ';
  lines_.push_back(std::move(line));
}

StageError Problems::error(const std::filesystem::path& file) const {
  std::string message;
  for (std::size_t i = 0; i < lines_.size() && i < kMaxShown; ++i)
    message += (i == 0 ? "" : "\n") + file.string() + ": " + lines_[i];
  if (lines_.size() > kMaxShown) message += "\nand " + std::to_string(lines_.size() - kMaxShown) + " more";
  return {std::move(message), {}};
}

std::string child_pointer(const std::string& parent, std::string_view key) {
  std::string pointer = parent + "/";
  for (char c : key) {  // RFC 6901, section 3
    if (c == '~')
      pointer += "~0";
    else if (c == '/')
      pointer += "~1";
    else
      pointer += c;
  }
  return pointer;
}

std::string child_pointer(const std::string& parent, std::size_t index) {
  return parent + "/" + std::to_string(index);
}

std::string suggest(const std::string& name, const std::vector<std::string>& names, const std::string& kind) {
  const std::string near = nearest(name, names);
  if (!near.empty()) return "did you mean '" + near + "'?";
  if (names.empty()) return "there is no " + kind + " to name";
  std::string text = "the " + kind + "s are ";
  for (std::size_t i = 0; i < names.size(); ++i) text += (i == 0 ? "" : ", ") + names[i];
  return text;
}

}  // namespace kagent::util
