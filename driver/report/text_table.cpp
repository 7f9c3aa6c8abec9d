// SPDX-License-Identifier: Apache-2.0
#include "report/text_table.h"

#include <algorithm>

#include "report/wording.h"

namespace kagent::report {
namespace {

// Characters, not bytes: the bytes that do not continue one.
std::size_t length(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

}  // namespace

std::string text_table(const std::vector<Column>& columns, const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::vector<std::string>> lines(1 + rows.size(), std::vector<std::string>(columns.size()));
  std::vector<std::size_t> widths(columns.size(), 0);
  for (std::size_t i = 0; i < lines.size(); ++i)
    for (std::size_t c = 0; c < columns.size(); ++c) {
      if (i == 0)
        lines[i][c] = one_line(columns[c].title);
      else if (c < rows[i - 1].size())
        lines[i][c] = one_line(rows[i - 1][c]);
      widths[c] = std::max(widths[c], length(lines[i][c]));
    }
  std::string text;
  for (const std::vector<std::string>& line : lines) {
    std::string row;
    for (std::size_t c = 0; c < columns.size(); ++c) {
      const std::string padding(widths[c] - length(line[c]), ' ');
      if (c > 0) row += "  ";
      row += columns[c].alignment == Alignment::left ? line[c] + padding : padding + line[c];
    }
    row.erase(row.find_last_not_of(' ') + 1);
    text += row + '\n';
  }
  return text;
}

}  // namespace kagent::report
