// SPDX-License-Identifier: Apache-2.0
#include "proposer/space.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <string>

namespace kagent::proposer {
namespace {

// A group of connected tunables is listed up to this many choices, and given up after this many values looked at: some
// ten milliseconds.
constexpr std::size_t kListedPerGroup = 1 << 16;
constexpr std::size_t kListingBudget = 1 << 16;
// Descents among which one is drawn by its weight: enough to level out how unevenly a single one falls.
constexpr int kDescents = 4;
// A tunable with so many values is probed at random before all its values are looked at.
constexpr std::size_t kManyValues = 64, kProbes = 32;
// Values looked at in one systematic search before another one starts elsewhere: a bad start is not worth more.
constexpr std::size_t kSystematicBudget = 1 << 13;
constexpr int kMutationAttempts = 16;

}  // namespace

Result<Space> Space::make(const SearchSpace& space) {
  Space made;
  made.tunables_ = space.tunables;
  std::vector<std::string> names;
  for (const Tunable& tunable : space.tunables) {
    if (tunable.values.empty())
      return failure("the tunable '" + tunable.name + "' has no values", "list at least one value");
    if (std::find(names.begin(), names.end(), tunable.name) != names.end())
      return failure("the tunable '" + tunable.name + "' is declared twice", "remove one of the two");
    names.push_back(tunable.name);
    const auto [least, most] = std::minmax_element(tunable.values.begin(), tunable.values.end());
    made.extents_.push_back({*least, *most});
  }
  made.constraints_of_.resize(names.size());
  for (const Expression& expression : space.constraints) {
    Result<CompiledExpression> compiled = expression.bind(names);
    if (!compiled) return std::unexpected(compiled.error());
    Constraint constraint{std::move(*compiled), {}};
    for (std::size_t dimension = 0; dimension < names.size(); ++dimension)
      if (expression.names().contains(names[dimension])) {
        constraint.dimensions.push_back(dimension);
        made.constraints_of_[dimension].push_back(made.constraints_.size());
      }
    if (constraint.dimensions.empty() && !constraint.expression.holds({}))
      return failure("the constraint '" + expression.text() + "' is never met", "remove it, or correct it");
    made.constraints_.push_back(std::move(constraint));
  }
  made.make_groups();
  return made;
}

// Groups, and within each an order in which constraints are decided as early as possible: the constraint that needs
// the fewest further values next.
void Space::make_groups() {
  std::vector<bool> placed(dimensions(), false);
  for (std::size_t first = 0; first < dimensions(); ++first) {
    if (placed[first]) continue;
    Group group;
    std::set<std::size_t> open(constraints_of_[first].begin(), constraints_of_[first].end());
    std::vector<bool> done(constraints_.size(), false);
    const auto place = [&](std::size_t dimension) {
      placed[dimension] = true;
      group.order.push_back(dimension);
      group.decided.emplace_back();
      for (std::size_t constraint : constraints_of_[dimension])
        if (!done[constraint]) open.insert(constraint);
      for (auto it = open.begin(); it != open.end();) {
        const auto& needed = constraints_[*it].dimensions;
        if (std::all_of(needed.begin(), needed.end(), [&](std::size_t d) { return placed[d]; })) {
          group.decided.back().push_back(*it);
          done[*it] = true;
          it = open.erase(it);
        } else {
          ++it;
        }
      }
    };
    const auto choices_left = [&](std::size_t constraint) {
      double logarithm = 0;
      for (std::size_t d : constraints_[constraint].dimensions)
        if (!placed[d]) logarithm += std::log2(1.0 + static_cast<double>(tunables_[d].values.size()));
      return logarithm;
    };
    if (open.empty()) place(first);
    while (!open.empty()) {
      const std::size_t next = *std::min_element(
          open.begin(), open.end(), [&](std::size_t a, std::size_t b) { return choices_left(a) < choices_left(b); });
      for (std::size_t dimension : constraints_[next].dimensions)
        if (!placed[dimension]) place(dimension);
    }
    note_touched(group);
    list_group(group);
    groups_.push_back(std::move(group));
  }
}

void Space::note_touched(Group& group) const {
  std::vector<bool> done(constraints_.size(), false);
  for (std::size_t depth = 0; depth < group.order.size(); ++depth) {
    for (std::size_t constraint : group.decided[depth]) done[constraint] = true;
    group.touched.emplace_back();
    for (std::size_t constraint : constraints_of_[group.order[depth]])
      if (!done[constraint]) group.touched.back().push_back(constraint);
  }
}

Space::Assignment Space::unassigned() const {
  return {std::vector<std::int64_t>(dimensions(), 0), extents_};
}

void Space::assign(Assignment& assignment, std::size_t dimension, std::uint32_t choice) const {
  const std::int64_t value = tunables_[dimension].values[choice];
  assignment.values[dimension] = value;
  assignment.ranges[dimension] = {value, value};
}

// Whether the values up to `depth` can be part of a valid point, as far as can be told.
bool Space::open(const Group& group, std::size_t depth, const Assignment& assignment) const {
  return std::all_of(group.decided[depth].begin(), group.decided[depth].end(),
                     [&](std::size_t c) { return constraints_[c].expression.holds(assignment.values); }) &&
         std::all_of(group.touched[depth].begin(), group.touched[depth].end(),
                     [&](std::size_t c) { return constraints_[c].expression.may_hold(assignment.ranges); });
}

void Space::list_group(Group& group) const {
  std::vector<Point> listed;
  Assignment assignment = unassigned();
  const std::size_t depths = group.order.size();
  Point choice(depths, 0);
  std::size_t budget = kListingBudget;
  std::size_t depth = 0;
  while (true) {
    const std::size_t dimension = group.order[depth];
    if (choice[depth] == tunables_[dimension].values.size()) {
      assignment.ranges[dimension] = extents_[dimension];
      if (depth == 0) break;
      ++choice[--depth];
      continue;
    }
    if (budget-- == 0) return;
    assign(assignment, dimension, choice[depth]);
    if (!open(group, depth, assignment)) {
      ++choice[depth];
    } else if (depth + 1 < depths) {
      choice[++depth] = 0;
    } else {
      if (listed.size() == kListedPerGroup) return;
      listed.push_back(choice);
      ++choice[depth];
    }
  }
  group.listed = std::move(listed);
}

bool Space::empty() const {
  return std::any_of(groups_.begin(), groups_.end(), [](const Group& g) { return g.listed && g.listed->empty(); });
}

std::optional<std::vector<Point>> Space::list(std::size_t limit) const {
  if (empty()) return std::vector<Point>{};
  std::size_t count = 1;
  for (const Group& group : groups_) {
    if (!group.listed || group.listed->size() > limit / count) return std::nullopt;
    count *= group.listed->size();
  }
  std::vector<Point> all{Point(dimensions(), 0)};
  for (const Group& group : groups_) {
    std::vector<Point> longer;
    longer.reserve(all.size() * group.listed->size());
    for (const Point& point : all)
      for (const Point& choice : *group.listed) {
        longer.push_back(point);
        for (std::size_t i = 0; i < choice.size(); ++i) longer.back()[group.order[i]] = choice[i];
      }
    all = std::move(longer);
  }
  return all;
}

// Picks an open value at random. Returns the number of open values, estimated where there are many; 0 if there is none.
double Space::choose(const Group& group, std::size_t depth, Assignment& assignment, Point& point, Random& random,
                     std::size_t& budget) const {
  const std::size_t dimension = group.order[depth];
  const std::size_t count = tunables_[dimension].values.size();
  const auto is_open = [&](std::size_t choice) {
    if (budget > 0) --budget;
    assign(assignment, dimension, static_cast<std::uint32_t>(choice));
    return open(group, depth, assignment);
  };
  if (count > kManyValues) {
    std::size_t hits = 0;
    for (std::size_t probe = 0; probe < kProbes; ++probe) {
      const std::size_t choice = random.below(count);
      if (is_open(choice) && ++hits == 1) point[dimension] = static_cast<std::uint32_t>(choice);
    }
    if (hits > 0) {
      assign(assignment, dimension, point[dimension]);
      return static_cast<double>(count * hits) / kProbes;
    }
  }
  std::vector<std::uint32_t> ways;
  for (std::size_t choice = 0; choice < count; ++choice)
    if (is_open(choice)) ways.push_back(static_cast<std::uint32_t>(choice));
  if (ways.empty()) return 0;
  point[dimension] = ways[random.below(ways.size())];
  assign(assignment, dimension, point[dimension]);
  return static_cast<double>(ways.size());
}

// One random way down. The weight is the product of the numbers of open ways (Knuth 1975, Estimating the efficiency of
// backtrack programs), the inverse of the probability of ending where it ends; 0 in a dead end.
double Space::descend(const Group& group, Assignment& assignment, Point& point, Random& random,
                      std::size_t& budget) const {
  double weight = 1;
  for (std::size_t dimension : group.order) assignment.ranges[dimension] = extents_[dimension];
  for (std::size_t depth = 0; depth < group.order.size() && weight > 0; ++depth)
    weight *= choose(group, depth, assignment, point, random, budget);
  return weight;
}

// Systematic search in random order, for groups in which descents end in dead ends.
bool Space::extend(const Group& group, std::size_t depth, Assignment& assignment, Point& point, Random& random,
                   std::size_t& budget) const {
  if (depth == group.order.size()) return true;
  const std::size_t dimension = group.order[depth];
  std::vector<std::uint32_t> order(tunables_[dimension].values.size());
  std::iota(order.begin(), order.end(), 0);
  random.shuffle(order);
  for (std::uint32_t choice : order) {
    if (budget == 0) return false;
    --budget;
    point[dimension] = choice;
    assign(assignment, dimension, choice);
    if (open(group, depth, assignment) && extend(group, depth + 1, assignment, point, random, budget)) return true;
  }
  assignment.ranges[dimension] = extents_[dimension];
  return false;
}

bool Space::sample_group(const Group& group, Point& point, Random& random, std::size_t& budget) const {
  if (group.listed) {
    if (group.listed->empty()) return false;
    const Point& choice = (*group.listed)[random.below(group.listed->size())];
    for (std::size_t i = 0; i < choice.size(); ++i) point[group.order[i]] = choice[i];
    return true;
  }
  Assignment assignment = unassigned();
  double total = 0;
  Point trial = point;
  for (int i = 0; i < kDescents && budget > 0; ++i) {
    const double weight = descend(group, assignment, trial, random, budget);
    total += weight;
    if (weight > 0 && random.uniform() * total < weight)
      for (std::size_t dimension : group.order) point[dimension] = trial[dimension];
  }
  if (total > 0) return true;
  while (budget > 0) {
    assignment = unassigned();
    std::size_t attempt = std::min(budget, kSystematicBudget);
    budget -= attempt;
    const bool found = extend(group, 0, assignment, point, random, attempt);
    budget += attempt;
    if (found) return true;
  }
  return false;
}

std::optional<Point> Space::sample(Random& random, std::size_t& budget) const {
  Point point(dimensions(), 0);
  for (const Group& group : groups_)
    if (!sample_group(group, point, random, budget)) return std::nullopt;
  return point;
}

std::vector<std::int64_t> Space::raw(const Point& point) const {
  std::vector<std::int64_t> values(dimensions());
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = tunables_[i].values[point[i]];
  return values;
}

bool Space::valid(const Point& point) const {
  const std::vector<std::int64_t> values = raw(point);
  return std::all_of(constraints_.begin(), constraints_.end(),
                     [&](const Constraint& constraint) { return constraint.expression.holds(values); });
}

std::vector<Point> Space::neighbours(const Point& point) const {
  std::vector<Point> found;
  std::vector<std::int64_t> values = raw(point);
  for (std::size_t dimension = 0; dimension < dimensions(); ++dimension) {
    const std::vector<std::int64_t>& options = tunables_[dimension].values;
    for (std::uint32_t choice = 0; choice < options.size(); ++choice) {
      if (choice == point[dimension]) continue;
      values[dimension] = options[choice];
      const std::vector<std::size_t>& affected = constraints_of_[dimension];
      if (!std::all_of(affected.begin(), affected.end(),
                       [&](std::size_t constraint) { return constraints_[constraint].expression.holds(values); }))
        continue;
      found.push_back(point);
      found.back()[dimension] = choice;
    }
    values[dimension] = options[point[dimension]];
  }
  return found;
}

std::optional<Point> Space::mutate(const Point& point, std::size_t changes, Random& random) const {
  std::vector<std::size_t> changeable;
  for (std::size_t dimension = 0; dimension < dimensions(); ++dimension)
    if (tunables_[dimension].values.size() > 1) changeable.push_back(dimension);
  if (changeable.size() < changes) return std::nullopt;
  for (int attempt = 0; attempt < kMutationAttempts; ++attempt) {
    Point changed = point;
    random.shuffle(changeable);
    for (std::size_t i = 0; i < changes; ++i) {
      const std::size_t dimension = changeable[i];
      const std::size_t step = 1 + random.below(tunables_[dimension].values.size() - 1);
      changed[dimension] = static_cast<std::uint32_t>((point[dimension] + step) % tunables_[dimension].values.size());
    }
    if (valid(changed)) return changed;
  }
  return std::nullopt;
}

TunableValues Space::values(const Point& point) const {
  TunableValues named;
  for (std::size_t i = 0; i < dimensions(); ++i) named[tunables_[i].name] = tunables_[i].values[point[i]];
  return named;
}

std::optional<Point> Space::locate(const TunableValues& values) const {
  if (values.size() != dimensions()) return std::nullopt;
  Point point(dimensions());
  for (std::size_t i = 0; i < dimensions(); ++i) {
    const auto named = values.find(tunables_[i].name);
    if (named == values.end()) return std::nullopt;
    const std::vector<std::int64_t>& options = tunables_[i].values;
    const auto found = std::find(options.begin(), options.end(), named->second);
    if (found == options.end()) return std::nullopt;
    point[i] = static_cast<std::uint32_t>(found - options.begin());
  }
  return point;
}

}  // namespace kagent::proposer
