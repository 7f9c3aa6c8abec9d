// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace kagent::report {

enum class Alignment { left, right };

struct Column {
  std::string title;
  Alignment alignment = Alignment::left;
};

// Aligned columns under their titles, two spaces apart; every line ends with a newline and has no trailing spaces.
// Cells are untrusted text: made one line each, without control characters. Missing cells are empty.
std::string text_table(const std::vector<Column>& columns, const std::vector<std::vector<std::string>>& rows);

}  // namespace kagent::report
