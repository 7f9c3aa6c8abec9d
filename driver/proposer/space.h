// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "proposer/random.h"
#include "proposer/search.h"

namespace kagent::proposer {

// One choice for each tunable: the index of its value.
using Point = std::vector<std::uint32_t>;

// A search space made ready. Tunables that share no constraint, however indirectly, are independent: each group of
// connected ones is listed on its own where that is cheap, so that the whole can be counted, listed up to a limit and
// sampled uniformly without being built. A group too large for that is sampled by descents that leave a branch as soon
// as the ranges of the values still open show that a constraint cannot be met there; they are nearly uniform.
class Space {
 public:
  static Result<Space> make(const SearchSpace& space);

  std::size_t dimensions() const { return tunables_.size(); }
  const Tunable& tunable(std::size_t dimension) const { return tunables_[dimension]; }
  TunableValues values(const Point& point) const;
  // Nothing if a name or a value is not of this space. The point may be excluded by a constraint.
  std::optional<Point> locate(const TunableValues& values) const;
  bool valid(const Point& point) const;

  // True if it was proven that no point is valid.
  bool empty() const;
  // Every valid point, if there are at most `limit` and that can be known cheaply.
  std::optional<std::vector<Point>> list(std::size_t limit) const;
  // A random valid point; nothing if none was found. `budget` is the number of values that may still be looked at, and
  // is lowered by those that were: it bounds the time that a tight space can cost.
  std::optional<Point> sample(Random& random, std::size_t& budget) const;
  // The valid points with one tunable changed.
  std::vector<Point> neighbours(const Point& point) const;
  // A random valid point with exactly `changes` tunables changed; nothing if a few attempts found none.
  std::optional<Point> mutate(const Point& point, std::size_t changes, Random& random) const;

 private:
  struct Constraint {
    CompiledExpression expression;
    std::vector<std::size_t> dimensions;
  };
  struct Group {
    std::vector<std::size_t> order;                 // dimensions in the order in which values are chosen
    std::vector<std::vector<std::size_t>> decided;  // constraints whose last name gets its value at that depth
    std::vector<std::vector<std::size_t>> touched;  // those that get a value there, and need more
    std::optional<std::vector<Point>> listed;       // choices of the group's dimensions, in `order`
  };
  // Values chosen so far. A tunable without one may still have any of its values: a range.
  struct Assignment {
    std::vector<std::int64_t> values;
    std::vector<ValueRange> ranges;
  };

  void make_groups();
  void note_touched(Group& group) const;
  void list_group(Group& group) const;
  Assignment unassigned() const;
  void assign(Assignment& assignment, std::size_t dimension, std::uint32_t choice) const;
  bool open(const Group& group, std::size_t depth, const Assignment& assignment) const;
  bool extend(const Group& group, std::size_t depth, Assignment& assignment, Point& point, Random& random,
              std::size_t& budget) const;
  double choose(const Group& group, std::size_t depth, Assignment& assignment, Point& point, Random& random,
                std::size_t& budget) const;
  double descend(const Group& group, Assignment& assignment, Point& point, Random& random, std::size_t& budget) const;
  bool sample_group(const Group& group, Point& point, Random& random, std::size_t& budget) const;
  std::vector<std::int64_t> raw(const Point& point) const;

  std::vector<Tunable> tunables_;
  std::vector<ValueRange> extents_;  // least and largest value of each
  std::vector<Constraint> constraints_;
  std::vector<std::vector<std::size_t>> constraints_of_;  // a dimension
  std::vector<Group> groups_;
};

}  // namespace kagent::proposer
