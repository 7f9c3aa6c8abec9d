// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>

#include <nlohmann/json.hpp>

#include "spec/read_parts.h"

namespace kagent::spec {
namespace {

constexpr std::int64_t kLowest = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kHighest = std::numeric_limits<std::int64_t>::max();
// A macro with more values than this is a search of its own.
constexpr std::size_t kMaxValues = 65'536;
constexpr int kMaxEdits = 100;
// Under 0.5 % two processes running the same binary differ by chance.
constexpr double kLeastGain = 0.005;

bool is_reserved(const std::string& name) {  // [lex.name] of C++
  return name.find("__") != std::string::npos ||
         (name.size() > 1 && name[0] == '_' && name[1] >= 'A' && name[1] <= 'Z') || name == "defined";
}

bool check_macro_name(const Node& node, const std::string& name, const Reading& reading) {
  if (!is_identifier(name) || is_cpp_keyword(name))
    node.problem("'" + name + "' is not the name of a macro", "use letters, digits and _, and no keyword");
  else if (is_reserved(name))
    node.problem("'" + name + "' is reserved for the compiler", "use a name without __ or a leading _");
  else if (name == "min" || name == "max" || name == "ceil_div")
    node.problem("'" + name + "' is a function in expressions", "rename the tunable");
  else if (reading.spec.find_parameter(name) != nullptr)
    node.problem("the macro would replace the parameter '" + name + "'", "rename the tunable");
  else
    return true;
  return false;
}

std::vector<std::int64_t> read_list(const Node& node) {
  std::vector<std::int64_t> values;
  if (node.value().empty()) node.problem("no values", "list at least one");
  if (node.value().size() > kMaxValues) {
    node.problem(std::to_string(node.value().size()) + " values", "use at most " + std::to_string(kMaxValues));
    return values;
  }
  for (const Node& element : node.elements())
    if (const auto value = element.integer(kLowest, kHighest)) values.push_back(*value);
  std::vector<std::int64_t> sorted = values;
  std::sort(sorted.begin(), sorted.end());
  if (const auto twice = std::adjacent_find(sorted.begin(), sorted.end()); twice != sorted.end())
    node.problem(std::to_string(*twice) + " is listed twice", "keep one");
  return values;
}

void expand(const Node& node, std::int64_t from, std::int64_t to, std::int64_t by, bool times,
            std::vector<std::int64_t>& values) {
  if (from > to) node.problem("from is above to", "swap them");
  for (std::int64_t value = from; value <= to;) {
    if (values.size() == kMaxValues) {
      node.problem("more than " + std::to_string(kMaxValues) + " values", "use a larger step, or a smaller range");
      return;
    }
    values.push_back(value);
    if (times ? __builtin_mul_overflow(value, by, &value) : __builtin_add_overflow(value, by, &value)) return;
  }
}

// {"from": 1, "to": 64, "step": 1} counts up; with "times" instead of "step" each value is a multiple of the one
// before.
std::vector<std::int64_t> read_range(const Node& node) {
  std::vector<std::int64_t> values;
  node.is_object_of({"from", "to", "step", "times"});
  const auto from_node = node.require("from", "give the first value");
  const auto to_node = node.require("to", "give the largest value");
  if (node.has("step") == node.has("times")) {
    node.problem("a range has one of \"step\" and \"times\"",
                 "write \"step\": 1 for n, n+1, ... or \"times\": 2 for n, 2n, ...");
    return values;
  }
  const bool times = node.has("times");
  const auto from = from_node ? from_node->integer(times ? 1 : kLowest, kHighest) : std::nullopt;
  const auto to = to_node ? to_node->integer(kLowest, kHighest) : std::nullopt;
  const auto by = node.find(times ? "times" : "step")->integer(times ? 2 : 1, kHighest);
  if (from && to && by) expand(node, *from, *to, *by, times, values);
  return values;
}

void read_tunable(const Node& node, const std::string& name, Reading& reading) {
  const bool named = check_macro_name(node, name, reading);
  std::vector<std::int64_t> values;
  if (node.value().is_array())
    values = read_list(node);
  else if (node.value().is_object())
    values = read_range(node);
  else
    node.problem(shown(node.value()) + " is no set of values",
                 "write [1, 2, 4] or {\"from\": 1, \"to\": 4, \"times\": 2}");
  if (named) reading.spec.tunables.push_back({name, std::move(values)});
}

void read_constraint(const Node& node, Reading& reading) {
  const auto text = node.text("write an expression in quotes, such as \"BLOCK * VECTOR <= 4096\"");
  if (!text) return;
  auto expression = node.expression();
  if (!expression) return;
  std::vector<std::string> names;
  for (const Tunable& tunable : reading.spec.tunables) names.push_back(tunable.name);
  bool sound = true;
  for (const std::string& name : expression->names()) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    sound = false;
    if (const Parameter* parameter = reading.spec.find_parameter(name); parameter != nullptr)
      node.problem("a constraint over '" + name + "', which is a parameter",
                   "constraints are over tunables; put conditions on sizes under \"requires\"");
    else
      node.problem("there is no tunable '" + name + "'", util::suggest(name, names, "tunable"));
  }
  if (sound) reading.spec.constraints.push_back(std::move(*expression));
}

void read_libraries(const Node& node, Rules& rules) {
  if (!node.is_array()) return;
  for (const Node& element : node.elements()) {
    const auto name = element.text();
    if (!name) continue;
    const bool plain = !name->empty() && (*name)[0] != '-' && std::all_of(name->begin(), name->end(), [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '+' ||
             c == '.' || c == '-';
    });
    if (!plain)
      element.problem(shown(element.value()) + " is no name of a library", "write \"m\" for libm.so");
    else if (std::find(rules.libraries.begin(), rules.libraries.end(), *name) != rules.libraries.end())
      element.problem("'" + *name + "' is listed twice", "keep one");
    else
      rules.libraries.push_back(*name);
  }
}

}  // namespace

void read_tunables(const Node& root, Reading& reading) {
  if (const auto node = root.find("tunables"); node && node->is_object())
    for (const auto& [name, value] : node->members()) read_tunable(value, name, reading);
  if (const auto node = root.find("constraints"); node && node->is_array())
    for (const Node& element : node->elements()) read_constraint(element, reading);
}

void read_requirements(const Node& root, Reading& reading) {
  const auto node = root.find("requires");
  if (!node || !node->is_array()) return;
  for (const Node& element : node->elements()) {
    if (!element.text("write an expression in quotes, such as \"cols % 4 == 0\"")) continue;
    if (auto expression = size_expression(element, reading))
      reading.spec.requirements.push_back(std::move(*expression));
  }
}

void read_rules(const Node& root, Reading& reading) {
  const auto node = root.find("rules");
  if (!node || !node->is_object_of({"libraries", "max_edits", "allow_algorithm_change", "allow_nondeterminism"}))
    return;
  Rules& rules = reading.spec.rules;
  if (const auto libraries = node->find("libraries")) read_libraries(*libraries, rules);
  if (const auto edits = node->find("max_edits"))
    rules.max_edits = static_cast<int>(edits->integer(1, kMaxEdits).value_or(1));
  if (const auto change = node->find("allow_algorithm_change"))
    rules.allow_algorithm_change = change->boolean().value_or(false);
  if (const auto nondeterminism = node->find("allow_nondeterminism"))
    rules.allow_nondeterminism = nondeterminism->boolean().value_or(false);
}

void read_goal(const Node& root, Reading& reading) {
  const auto node = root.find("goal");
  if (!node || !node->is_object_of({"roofline", "max_regression", "min_gain", "decided_by"})) return;
  Goal& goal = reading.spec.goal;
  if (const auto roofline = node->find("roofline")) {
    goal.roofline = roofline->number(0, 1);
    if (goal.roofline && *goal.roofline == 0)
      roofline->problem("a goal of 0", "give a share of the roofline above 0, up to 1");
  }
  if (const auto regression = node->find("max_regression"))
    goal.max_regression = regression->number(0, 1).value_or(goal.max_regression);
  if (const auto gain = node->find("min_gain")) goal.min_gain = gain->number(kLeastGain, 1).value_or(goal.min_gain);
  if (const auto decided = node->find("decided_by")) {
    const auto text = decided->text("write \"cold\" or \"hot\"");
    if (text && *text != "cold" && *text != "hot")
      decided->problem("there is no cache state " + shown(decided->value()),
                       "write \"cold\" (caches swept before each call) or \"hot\" (calls in a row)");
    goal.decided_by = text == "hot" ? CacheState::hot : CacheState::cold;
  }
}

}  // namespace kagent::spec
