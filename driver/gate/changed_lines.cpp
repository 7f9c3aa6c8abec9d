// SPDX-License-Identifier: Apache-2.0
#include "gate/changed_lines.h"

#include <algorithm>
#include <cstdint>
#include <unordered_map>

#include "util/lexer.h"

namespace kagent::gate {

namespace {

// Beyond so many changed lines the texts have nothing to do with one another, and finding the shortest script would
// cost the square of it.
constexpr int kMostChanges = 1500;

using Numbers = std::vector<std::uint32_t>;
using Kind = LineStep::Kind;

Numbers numbered(const std::vector<std::string>& lines, std::unordered_map<std::string, std::uint32_t>& known) {
  Numbers numbers;
  for (const std::string& line : lines)
    numbers.push_back(known.try_emplace(line, static_cast<std::uint32_t>(known.size())).first->second);
  return numbers;
}

class Comparison {
 public:
  Comparison(const Numbers& a, const Numbers& b) : a_(a), b_(b) {
    const std::size_t shorter = std::min(a.size(), b.size());
    while (front_ < shorter && a[front_] == b[front_]) ++front_;
    while (back_ < shorter - front_ && a[a.size() - 1 - back_] == b[b.size() - 1 - back_]) ++back_;
  }

  std::vector<LineStep> run() {
    for (std::size_t i = 0; i < front_; ++i) steps_.push_back({Kind::same, i});
    compare_middle();
    for (std::size_t i = b_.size() - back_; i < b_.size(); ++i) steps_.push_back({Kind::same, i});
    return std::move(steps_);
  }

 private:
  int length_a() const { return static_cast<int>(a_.size() - front_ - back_); }
  int length_b() const { return static_cast<int>(b_.size() - front_ - back_); }
  bool equal(int x, int y) const {
    return a_[front_ + static_cast<std::size_t>(x)] == b_[front_ + static_cast<std::size_t>(y)];
  }

  // The furthest x reached on each diagonal k = x - y, after each number of changes.
  bool search() {
    const int n = length_a(), m = length_b();
    std::vector<int> reached(2 * kMostChanges + 3, 0);
    const auto middle = reached.begin() + (kMostChanges + 1);
    const auto at = [&](int k) -> int& { return middle[k]; };
    for (int changes = 0; changes <= std::min(n + m, kMostChanges); ++changes) {
      for (int k = -changes; k <= changes; k += 2) {
        int x = k == -changes || (k != changes && at(k - 1) < at(k + 1)) ? at(k + 1) : at(k - 1) + 1;
        while (x < n && x - k < m && equal(x, x - k)) ++x;
        at(k) = x;
        if (x >= n && x - k >= m) {
          trace_.emplace_back(at_range(reached, changes));
          return true;
        }
      }
      trace_.emplace_back(at_range(reached, changes));
    }
    return false;
  }
  static std::vector<int> at_range(const std::vector<int>& reached, int changes) {
    const auto begin = reached.begin() + (kMostChanges + 1 - changes);
    return {begin, begin + 2 * changes + 1};
  }

  void compare_middle() {
    const int n = length_a(), m = length_b();
    if (!search()) {
      for (int x = 0; x < n; ++x) steps_.push_back({Kind::removed, front_ + static_cast<std::size_t>(x)});
      for (int y = 0; y < m; ++y) steps_.push_back({Kind::added, front_ + static_cast<std::size_t>(y)});
      return;
    }
    std::vector<LineStep> backwards;
    int x = n, y = m;
    for (int changes = static_cast<int>(trace_.size()) - 1; changes > 0; --changes) {
      const std::vector<int>& before = trace_[static_cast<std::size_t>(changes) - 1];
      const auto at = [&](int k) {
        const int index = k + changes - 1;
        return index < 0 || index >= static_cast<int>(before.size()) ? -1 : before[static_cast<std::size_t>(index)];
      };
      const int k = x - y;
      const bool down = k == -changes || (k != changes && at(k - 1) < at(k + 1));
      const int from = down ? at(k + 1) : at(k - 1);
      const int begin = down ? from : from + 1;
      while (x > begin && y > 0) backwards.push_back({Kind::same, front_ + static_cast<std::size_t>(--y)}), --x;
      if (down)
        backwards.push_back({Kind::added, front_ + static_cast<std::size_t>(--y)});
      else
        backwards.push_back({Kind::removed, front_ + static_cast<std::size_t>(--x)});
    }
    while (x > 0) backwards.push_back({Kind::same, front_ + static_cast<std::size_t>(--y)}), --x;
    steps_.insert(steps_.end(), backwards.rbegin(), backwards.rend());
  }

  const Numbers& a_;
  const Numbers& b_;
  std::size_t front_ = 0, back_ = 0;  // equal lines at both ends
  std::vector<std::vector<int>> trace_;
  std::vector<LineStep> steps_;
};

}  // namespace

std::vector<std::string> code_lines(const std::string& source) {
  std::vector<std::string> lines;
  const std::vector<util::Token> tokens = util::lex(source).tokens;
  for (std::size_t i = 0; i < tokens.size();) {
    std::size_t end = i;
    while (end < tokens.size() && tokens[end].line == tokens[i].line) ++end;
    lines.push_back(util::spelled(tokens, i, end));
    i = end;
  }
  return lines;
}

std::vector<LineStep> compare_lines(const std::vector<std::string>& before, const std::vector<std::string>& after) {
  std::unordered_map<std::string, std::uint32_t> known;
  const Numbers a = numbered(before, known), b = numbered(after, known);
  return Comparison(a, b).run();
}

}  // namespace kagent::gate
