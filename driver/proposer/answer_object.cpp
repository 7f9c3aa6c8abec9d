// SPDX-License-Identifier: Apache-2.0
#include "proposer/answer_object.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "proposer/embedded.h"
#include "util/text.h"

namespace kagent::proposer {

namespace {

using Json = nlohmann::json;

constexpr std::array kMembers = {"bottleneck", "hypothesis", "change",      "expected_speedup",
                                 "difficulty", "tunables",   "constraints", "launch",
                                 "edits",      "source"};
// As in the schema.
constexpr std::size_t kLongestWords = 4000, kLongestExpression = 1000;
constexpr std::size_t kMostTunables = 16, kMostValues = 256, kMostConstraints = 32, kMostEdits = 100;
constexpr double kMostSpeedup = 1000;

struct Wrong {
  std::string message;
};

// Characters, as JSON Schema counts them.
std::size_t length(const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string shown(const Json& value) {
  return util::clean(value.dump(-1, ' ', false, Json::error_handler_t::replace), 80);
}

[[noreturn]] void wrong(std::string_view where, const Json& value, std::string_view wanted) {
  throw Wrong{fmt::format("\"{}\" is {}; it must be {}", where, shown(value), wanted)};
}

// Null and absent are the same.
const Json* member(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

std::string read_text(const Json& value, std::string_view where, std::size_t most) {
  if (!value.is_string()) wrong(where, value, "a string");
  auto text = value.get<std::string>();
  if (length(text) > most) wrong(where, value, fmt::format("a string of at most {} characters", most));
  return text;
}

std::string read_words(const Json& object, const char* name) {
  const Json* value = member(object, name);
  return value == nullptr ? std::string() : read_text(*value, name, kLongestWords);
}

const Json& array_of(const Json& value, std::string_view where, std::size_t least, std::size_t most) {
  if (!value.is_array() || value.size() < least || value.size() > most)
    wrong(where, value, fmt::format("an array of {} to {} elements", least, most));
  return value;
}

void demand_members(const Json& object, std::string_view where, std::initializer_list<const char*> required,
                    std::initializer_list<const char*> optional = {}) {
  if (!object.is_object()) wrong(where, object, "an object");
  for (const char* name : required)
    if (!object.contains(name)) throw Wrong{fmt::format("\"{}\" has no \"{}\"", where, name)};
  for (const auto& [name, value] : object.items()) {
    const auto is_name = [&](const char* known) { return name == known; };
    if (std::ranges::none_of(required, is_name) && std::ranges::none_of(optional, is_name))
      throw Wrong{fmt::format("\"{}\" has a member \"{}\" that is not known", where, util::clean(name, 80))};
  }
}

bool is_identifier(const std::string& text) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return !text.empty() && text.size() <= 64 && letter(text[0]) &&
         std::ranges::all_of(text, [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

std::optional<std::int64_t> integer(const Json& value) {
  if (value.is_number_unsigned()) {
    const auto number = value.get<std::uint64_t>();
    return number <= INT64_MAX ? std::optional(static_cast<std::int64_t>(number)) : std::nullopt;
  }
  return value.is_number_integer() ? std::optional(value.get<std::int64_t>()) : std::nullopt;
}

Expression read_expression(const Json& value, std::string_view where) {
  const auto number = integer(value);
  if (number ? *number < 0 : !value.is_string()) wrong(where, value, "an expression, or an integer from 0 on");
  const std::string text = number ? std::to_string(*number) : read_text(value, where, kLongestExpression);
  auto expression = Expression::parse(text);
  if (!expression) throw Wrong{fmt::format("\"{}\": {}", where, expression.error().message)};
  return *std::move(expression);
}

// Missing extents are 1.
std::array<Expression, 3> read_extents(const Json& value, std::string_view where) {
  std::array<Expression, 3> extents;
  array_of(value, where, 1, 3);
  for (std::size_t i = 0; i < 3; ++i) extents[i] = read_expression(i < value.size() ? value[i] : Json(1), where);
  return extents;
}

Launch read_launch(const Json& value) {
  demand_members(value, "launch", {"grid", "block"}, {"cluster", "shared_memory", "instance"});
  Launch launch;
  launch.grid = read_extents(value["grid"], "launch/grid");
  launch.block = read_extents(value["block"], "launch/block");
  if (const Json* cluster = member(value, "cluster")) launch.cluster = read_extents(*cluster, "launch/cluster");
  if (const Json* shared = member(value, "shared_memory"))
    launch.shared_memory = read_expression(*shared, "launch/shared_memory");
  if (const Json* instance = member(value, "instance"))
    launch.instance = read_text(*instance, "launch/instance", kLongestExpression);
  return launch;
}

Tunable read_tunable(const Json& value) {
  demand_members(value, "tunables", {"name", "values"});
  Tunable tunable;
  tunable.name = read_text(value["name"], "tunables/name", 64);
  if (!is_identifier(tunable.name)) wrong("tunables/name", value["name"], "the name of a macro");
  for (const Json& element : array_of(value["values"], "tunables/values", 1, kMostValues)) {
    const auto number = integer(element);
    if (!number) wrong("tunables/values", element, "an integer");
    if (std::ranges::find(tunable.values, *number) != tunable.values.end())
      throw Wrong{fmt::format("\"tunables/values\" of '{}' has {} twice", tunable.name, *number)};
    tunable.values.push_back(*number);
  }
  return tunable;
}

void read_space(const Json& object, Answer& answer) {
  if (const Json* tunables = member(object, "tunables")) {
    std::set<std::string> names;
    for (const Json& element : array_of(*tunables, "tunables", 0, kMostTunables)) {
      answer.tunables.push_back(read_tunable(element));
      if (!names.insert(answer.tunables.back().name).second)
        throw Wrong{fmt::format("\"tunables\" names '{}' twice", answer.tunables.back().name)};
    }
  }
  if (const Json* constraints = member(object, "constraints"))
    for (const Json& element : array_of(*constraints, "constraints", 0, kMostConstraints)) {
      if (!element.is_string()) wrong("constraints", element, "a string");
      answer.constraints.push_back(read_expression(element, "constraints").text());
    }
}

void read_code(const Json& object, Answer& answer) {
  if (const Json* edits = member(object, "edits"))
    for (const Json& element : array_of(*edits, "edits", 0, kMostEdits)) {
      demand_members(element, "edits", {"search", "replace"});
      answer.edits.push_back({read_text(element["search"], "edits/search", kLargestAnswer),
                              read_text(element["replace"], "edits/replace", kLargestAnswer)});
    }
  if (const Json* source = member(object, "source")) {
    std::string text = read_text(*source, "source", kLargestAnswer);
    if (text.find_first_not_of(" \t\r\n") != std::string::npos) answer.source = std::move(text);
  }
}

Answer read_members(const Json& object) {
  Answer answer;
  const Json* hypothesis = member(object, "hypothesis");
  if (hypothesis == nullptr) throw Wrong{"\"hypothesis\" is missing: say in a sentence why it should be faster"};
  answer.hypothesis = read_text(*hypothesis, "hypothesis", kLongestWords);
  if (answer.hypothesis.empty()) wrong("hypothesis", *hypothesis, "a sentence");
  answer.bottleneck = read_words(object, "bottleneck");
  answer.change = read_words(object, "change");
  if (const Json* speedup = member(object, "expected_speedup")) {
    const double value = speedup->is_number() ? speedup->get<double>() : 0;
    if (!(value > 0) || value > kMostSpeedup) wrong("expected_speedup", *speedup, "a number such as 1.2");
    answer.expected_speedup = value;
  }
  if (const Json* difficulty = member(object, "difficulty")) {
    if (*difficulty != "easy" && *difficulty != "hard") wrong("difficulty", *difficulty, "\"easy\" or \"hard\"");
    answer.hard = *difficulty == "hard";
  }
  read_space(object, answer);
  if (const Json* launch = member(object, "launch")) answer.launch = read_launch(*launch);
  read_code(object, answer);
  return answer;
}

bool is_answer(const Json& object) {
  return object.is_object() && std::ranges::any_of(kMembers, [&](const char* name) { return object.contains(name); });
}

// Every property is required, and nothing else is allowed.
void make_strict(Json& schema) {
  if (schema.is_array())
    for (Json& element : schema) make_strict(element);
  if (!schema.is_object()) return;
  // Servers that enforce a schema know these not at all, or make huge grammars of them. The reader checks them anyway.
  for (const char* limit : {"$schema", "minLength", "maxLength", "minItems", "maxItems", "uniqueItems", "pattern",
                            "minimum", "maximum", "exclusiveMinimum"})
    schema.erase(limit);
  for (auto& [name, value] : schema.items()) make_strict(value);
  if (!schema.contains("properties")) return;
  Json required = Json::array();
  for (const auto& [name, value] : schema["properties"].items()) required.push_back(name);
  schema["required"] = required;
  schema["additionalProperties"] = false;
}

}  // namespace

std::expected<Answer, AnswerProblem> read_answer_object(const std::string& strict_json) {
  try {
    Json object = Json::parse(strict_json);
    if (!is_answer(object) && object.size() == 1) {
      Json inner = *object.begin();
      if (inner.is_array() && inner.size() == 1) inner = Json(inner[0]);
      object = std::move(inner);
    }
    if (!is_answer(object))
      return std::unexpected(AnswerProblem{AnswerError::no_object, "a JSON object has none of the members asked for"});
    return read_members(object);
  } catch (const Json::exception& error) {  // a number beyond any double is no error of parsing
    return std::unexpected(AnswerProblem{
        AnswerError::invalid_json, fmt::format("the JSON object cannot be read: {}", util::clean(error.what(), 300))});
  } catch (const Wrong& problem) {
    return std::unexpected(AnswerProblem{AnswerError::invalid_member, problem.message});
  }
}

std::string_view answer_schema() {
  return embedded_file("answer.schema.json");
}

std::string strict_answer_schema() {
  Json schema = Json::parse(answer_schema());
  make_strict(schema);
  return schema.dump();
}

}  // namespace kagent::proposer
