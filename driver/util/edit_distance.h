// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <vector>

namespace kagent::util {

// How many elements have to be put in, taken out or replaced to make one sequence of the other (Levenshtein, Binary
// codes capable of correcting deletions, insertions and reversals, 1966). Costs the product of their lengths.
template <class Sequence, class Equal = std::equal_to<>>
std::size_t edit_distance(const Sequence& a, const Sequence& b, Equal equal = {}) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j < row.size(); ++j) row[j] = j;
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replace = diagonal + (equal(a[i], b[j]) ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replace, diagonal + 1, row[j] + 1});
    }
  }
  return row.back();
}

}  // namespace kagent::util
