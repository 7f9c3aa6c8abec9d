// SPDX-License-Identifier: Apache-2.0
#include "profiler/patterns.h"

#include <algorithm>
#include <charconv>
#include <stdexcept>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "profiler/patterns_text.h"

namespace kagent::profiler {
namespace {

using Json = nlohmann::json;

// "memory_pct > 85"
Condition parse_condition(const std::string& text) {
  const std::size_t at = text.find_first_of("<>");
  Condition condition;
  if (at == std::string::npos || at < 2 || at + 2 >= text.size() || text[at - 1] != ' ' || text[at + 1] != ' ')
    throw std::invalid_argument("'" + text + "' is not a condition such as 'memory_pct > 85'");
  condition.name = text.substr(0, at - 1);
  condition.above = text[at] == '>';
  const char* begin = text.data() + at + 2;
  const char* end = text.data() + text.size();
  if (const auto parsed = std::from_chars(begin, end, condition.bound); parsed.ptr != end || parsed.ec != std::errc{})
    throw std::invalid_argument("'" + text + "' does not end in a number");
  return condition;
}

std::vector<Condition> parse_conditions(const Json& list) {
  std::vector<Condition> conditions;
  for (const Json& text : list) conditions.push_back(parse_condition(text.get<std::string>()));
  return conditions;
}

PatternRule parse_rule(const Json& json) {
  PatternRule rule;
  rule.name = json.at("name").get<std::string>();
  rule.evidence = json.at("evidence").get<std::string>();
  rule.advice = json.at("advice").get<std::string>();
  rule.source = json.at("source").get<std::string>();
  rule.when = parse_conditions(json.at("when"));
  if (rule.when.empty()) throw std::invalid_argument("'when' is empty: the pattern would always show");
  if (const auto found = json.find("unless"); found != json.end()) rule.unless = parse_conditions(*found);
  const Json& cost = json.at("cost");
  if (!cost.is_array() || cost.size() != 5) throw std::invalid_argument("'cost' is [number, from, to, least, most]");
  rule.cost = cost[0].get<std::string>();
  rule.from = cost[1].get<double>(), rule.to = cost[2].get<double>();
  rule.least = cost[3].get<double>(), rule.most = cost[4].get<double>();
  if (rule.from == rule.to || rule.least < 0 || rule.most > 1 || rule.least > rule.most)
    throw std::invalid_argument("'cost' has an empty range, or is not between 0 and 1");
  return rule;
}

bool holds(const Condition& condition, const Numbers& numbers) {
  const auto found = numbers.find(condition.name);
  if (found == numbers.end()) return false;
  return condition.above ? found->second > condition.bound : found->second < condition.bound;
}

bool shows(const PatternRule& rule, const Numbers& numbers) {
  const auto here = [&](const Condition& condition) { return holds(condition, numbers); };
  return std::ranges::all_of(rule.when, here) && (rule.unless.empty() || !std::ranges::all_of(rule.unless, here));
}

double severity(const PatternRule& rule, const Numbers& numbers) {
  const auto found = numbers.find(rule.cost);
  if (found == numbers.end()) return rule.least;
  const double way = std::clamp((found->second - rule.from) / (rule.to - rule.from), 0.0, 1.0);
  return rule.least + way * (rule.most - rule.least);
}

// {name} stands for the number, to three digits; "?" where it is not known.
std::string fill_in(const std::string& text, const Numbers& numbers) {
  std::string filled;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t open = text.find('{', at), close = text.find('}', open);
    if (close == std::string::npos) return filled + text.substr(at);
    filled += text.substr(at, open - at);
    const auto found = numbers.find(text.substr(open + 1, close - open - 1));
    filled += found == numbers.end() ? "?" : fmt::format("{:.3g}", found->second);
    at = close + 1;
  }
  return filled;
}

}  // namespace

Result<std::vector<PatternRule>> parse_patterns(std::string_view text) {
  const Json root = Json::parse(text, nullptr, false);
  if (!root.is_object() || !root.contains("patterns") || !root["patterns"].is_array())
    return failure("the patterns are not {\"patterns\": [...]}", "correct the file's JSON");
  std::vector<PatternRule> rules;
  for (const Json& json : root["patterns"]) {
    try {
      rules.push_back(parse_rule(json));
    } catch (const std::exception& error) {
      const std::string name = json.is_object() ? json.value("name", "?") : "?";
      return failure(fmt::format("pattern {} ('{}'): {}", rules.size(), name, error.what()), "correct the pattern");
    }
  }
  return rules;
}

const std::vector<PatternRule>& known_patterns() {
  static const std::vector<PatternRule> rules = parse_patterns(kPatternsText).value();
  return rules;
}

std::vector<Pattern> find_patterns(const std::vector<PatternRule>& rules, const Numbers& numbers) {
  std::vector<Pattern> found;
  for (const PatternRule& rule : rules)
    if (shows(rule, numbers))
      found.push_back({rule.name, severity(rule, numbers), fill_in(rule.evidence, numbers), rule.advice, rule.source});
  std::ranges::stable_sort(found, std::greater{}, &Pattern::severity);
  return found;
}

}  // namespace kagent::profiler
