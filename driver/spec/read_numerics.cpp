// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <utility>

#include <nlohmann/json.hpp>

#include "spec/read_parts.h"
#include "spec/spec.h"

namespace kagent::spec {
namespace {

constexpr double kHuge = 1.7976931348623157e308;

bool is_written_float(const Parameter& parameter) {
  return parameter.is_written() && is_floating(parameter.dtype);
}
bool is_generated(const Parameter& parameter) {
  return parameter.is_read() || parameter.kind == ParameterKind::scalar;
}

// An expression over sizes that makes sense under every case's sizes.
std::optional<Expression> checked_over_cases(const Node& node, const Reading& reading, std::int64_t least) {
  std::optional<Expression> expression = size_expression(node, reading);
  if (!expression || !reading.parameters_known || !reading.doubtful.empty()) return expression;
  for (const Case& entry : reading.spec.cases) {
    const auto has_size = [&entry](const std::string& name) { return entry.sizes.contains(name); };
    if (!std::all_of(expression->names().begin(), expression->names().end(), has_size)) continue;  // reported there
    const auto value = evaluate(*expression, entry.sizes);
    if (!value)
      node.problem("in case '" + entry.name + "': " + value.error().message, value.error().fix);
    else if (*value < least)
      node.problem("it is " + std::to_string(*value) + " in case '" + entry.name + "'",
                   "it must be at least " + std::to_string(least));
  }
  return expression;
}

void read_one_tolerance(const Node& node, const std::string& name, Reading& reading) {
  if (!node.is_object_of({"rtol", "atol", "reduction_length", "contraction"})) return;
  const Parameter* parameter = reading.spec.find_parameter(name);
  if (parameter != nullptr && parameter->is_written() && !is_floating(parameter->dtype) &&
      !reading.doubtful.contains(name)) {
    node.problem("'" + name + "' is " + std::string(kagent::name(parameter->dtype)) + ", which is compared bit by bit",
                 "remove its tolerance");
    return;
  }
  parameter = reading.named(node, name, is_written_float, "output");
  Tolerance tolerance = default_tolerance(parameter != nullptr ? parameter->dtype : DType::float32);
  if (const auto rtol = node.find("rtol")) tolerance.rtol = rtol->number(0, 1).value_or(0);
  if (const auto atol = node.find("atol")) tolerance.atol = atol->number(0, kHuge).value_or(0);
  if (const auto length = node.find("reduction_length"))
    tolerance.reduction_length = checked_over_cases(*length, reading, 0);
  if (const auto contraction = node.find("contraction")) {
    tolerance.contraction = contraction->boolean().value_or(false);
    if (!node.has("reduction_length"))
      contraction->problem("a contraction without its length",
                           "add \"reduction_length\", the number of products in a sum");
  }
  if (parameter != nullptr) reading.spec.tolerance[name] = std::move(tolerance);
}

const std::pair<std::string_view, Distribution> kDistributions[] = {
    {"normal", Distribution::normal},           {"uniform", Distribution::uniform},
    {"log_uniform", Distribution::log_uniform}, {"integers", Distribution::integers},
    {"one_hot", Distribution::one_hot},         {"constant", Distribution::constant}};

std::vector<std::string> keys_of(Distribution distribution) {
  switch (distribution) {
    case Distribution::normal:
      return {"distribution", "mean", "stddev"};
    case Distribution::uniform:
    case Distribution::log_uniform:
    case Distribution::integers:
      return {"distribution", "low", "high"};
    case Distribution::one_hot:
      return {"distribution"};
    case Distribution::constant:
      return {"distribution", "value"};
  }
  return {};
}

std::optional<Distribution> read_distribution(const Node& node) {
  const auto field = node.require("distribution", "name one, such as \"normal\"");
  const auto text = field ? field->text() : std::nullopt;
  if (!text) return std::nullopt;
  std::vector<std::string> names;
  for (const auto& [known, distribution] : kDistributions) {
    if (known == *text) return distribution;
    names.emplace_back(known);
  }
  field->problem("there is no distribution " + shown(field->value()), util::suggest(*text, names, "distribution"));
  return std::nullopt;
}

void read_number(const Node& node, const std::string& key, double low, double& target, bool& sound) {
  const auto field = node.find(key);
  if (!field) return;
  const auto number = field->number(low, kHuge);
  if (number)
    target = *number;
  else
    sound = false;
}

void check_range(const Node& node, const InputRecipe& recipe, const Parameter& parameter) {
  const bool whole = recipe.distribution == Distribution::integers;
  if (whole ? recipe.low > recipe.high : recipe.low >= recipe.high)
    node.problem("low is not under high", "swap or correct them");
  else if (recipe.distribution == Distribution::log_uniform && recipe.low <= 0)
    node.problem("log_uniform draws magnitudes from low to high", "use a low above 0; signs are drawn too");
  else if (whole && (std::trunc(recipe.low) != recipe.low || std::trunc(recipe.high) != recipe.high))
    node.problem("integers between limits that are not whole", "use whole numbers");
  else if (!is_floating(parameter.dtype) && (!is_value_of(parameter.dtype, std::trunc(recipe.low)) ||
                                             !is_value_of(parameter.dtype, std::trunc(recipe.high))))
    node.problem("the range is not within " + std::string(name(parameter.dtype)),
                 "use limits that the type has (up to 2^53)");
}

void check_recipe(const Node& node, const InputRecipe& recipe, const Parameter& parameter) {
  const bool whole = recipe.distribution == Distribution::integers || recipe.distribution == Distribution::one_hot ||
                     recipe.distribution == Distribution::constant;
  if (parameter.dtype == DType::boolean && !whole) {
    node.problem("a bool has two values", "use \"integers\" with low 0 and high 1, \"one_hot\" or \"constant\"");
    return;
  }
  switch (recipe.distribution) {
    case Distribution::normal:
      return;
    case Distribution::uniform:
    case Distribution::log_uniform:
    case Distribution::integers:
      return check_range(node, recipe, parameter);
    case Distribution::one_hot:
      if (!parameter.is_buffer()) node.problem("a scalar cannot be one_hot", "use another distribution");
      return;
    case Distribution::constant:
      if (!is_value_of(parameter.dtype, recipe.value))
        node.problem("the value is none of " + std::string(name(parameter.dtype)), "use a value that the type has");
      return;
  }
}

void read_recipe(const Node& node, const std::string& name, Reading& reading) {
  if (!node.is_object()) return;
  const Parameter* parameter = reading.named(node, name, is_generated, "input or scalar");
  const auto distribution = read_distribution(node);
  if (!distribution) return;
  InputRecipe recipe;
  recipe.distribution = *distribution;
  bool sound = node.is_object_of(keys_of(*distribution));
  for (const char* key : {"low", "high"})
    if (recipe.distribution == Distribution::integers || recipe.distribution == Distribution::log_uniform)
      sound = node.require(key, "give the limits of the range").has_value() && sound;
  if (*distribution == Distribution::constant) sound = node.require("value", "give the constant").has_value() && sound;
  read_number(node, "mean", -kHuge, recipe.mean, sound);
  read_number(node, "stddev", 0, recipe.stddev, sound);
  read_number(node, "low", -kHuge, recipe.low, sound);
  read_number(node, "high", -kHuge, recipe.high, sound);
  read_number(node, "value", -kHuge, recipe.value, sound);
  if (parameter == nullptr || !sound) return;
  check_recipe(node, recipe, *parameter);
  reading.spec.inputs[name] = recipe;
}

}  // namespace

// rtol and atol of torch.testing.assert_close for the types that it knows. The float8 types have no such convention:
// two unit roundoffs, one for the rounding of the result and one for that of the reference.
Tolerance default_tolerance(DType dtype) {
  Tolerance tolerance;
  switch (dtype) {
    case DType::float64:
      tolerance.rtol = 1e-7, tolerance.atol = 1e-7;
      break;
    case DType::float32:
      tolerance.rtol = 1.3e-6, tolerance.atol = 1e-5;
      break;
    case DType::float16:
      tolerance.rtol = 1e-3, tolerance.atol = 1e-5;
      break;
    case DType::bfloat16:
      tolerance.rtol = 1.6e-2, tolerance.atol = 1e-5;
      break;
    default:
      tolerance.rtol = 2 * unit_roundoff(dtype), tolerance.atol = 1e-5;
      break;
  }
  return tolerance;
}

void read_tolerance(const Node& root, Reading& reading) {
  if (const auto node = root.find("tolerance"); node && node->is_object())
    for (const auto& [name, value] : node->members()) read_one_tolerance(value, name, reading);
  for (const Parameter& parameter : reading.spec.parameters)
    if (is_written_float(parameter))
      reading.spec.tolerance.try_emplace(parameter.name, default_tolerance(parameter.dtype));
}

void read_inputs(const Node& root, Reading& reading) {
  if (const auto node = root.find("inputs"); node && node->is_object())
    for (const auto& [name, value] : node->members()) read_recipe(value, name, reading);
}

void read_stress(const Node& root, Reading& reading) {
  const auto node = root.find("stress");
  if (!node || !node->is_object_of({"skip", "why"})) return;
  const auto skip = node->require("skip", "list the edge inputs to leave out, or remove \"stress\"");
  const auto why = node->require("why", "say why the operation does not define them");
  if (const auto text = why ? why->text() : std::nullopt) {
    reading.spec.stress_why = *text;
    if (text->empty()) why->problem("an empty reason", "say why the operation does not define them");
  }
  if (!skip || !skip->is_array()) return;
  const std::vector<std::string> known = edge_names();
  for (const Node& element : skip->elements()) {
    const auto name = element.text();
    if (!name) continue;
    auto& names = reading.spec.stress_skip;
    if (std::find(known.begin(), known.end(), *name) == known.end())
      element.problem("there is no edge input " + shown(element.value()), util::suggest(*name, known, "edge input"));
    else if (std::find(names.begin(), names.end(), *name) != names.end())
      element.problem("'" + *name + "' is listed twice", "keep one");
    else
      names.push_back(*name);
  }
}

void read_work(const Node& root, Reading& reading) {
  const auto node = root.find("work");
  if (!node || !node->is_object_of({"flops", "bytes"})) return;
  if (const auto flops = node->find("flops")) reading.spec.flops = checked_over_cases(*flops, reading, 0);
  if (const auto bytes = node->find("bytes")) reading.spec.bytes = checked_over_cases(*bytes, reading, 0);
}

void read_reference(const Node& root, Reading& reading) {
  const auto node = root.find("reference");
  if (!node || !node->is_object_of({"source", "function"})) return;
  Reference reference;
  if (const auto source = node->require("source", "name the file with the reference function"))
    if (const auto file = golden_file(*source, reading, {})) reference.source = *file;
  if (const auto function = node->require("function", "name the reference function"))
    if (const auto text = function->text()) {
      reference.function = *text;
      if (!is_qualified_identifier(*text))
        function->problem(shown(function->value()) + " is not the name of a C++ function",
                          "write name or namespace::name");
    }
  reading.spec.reference = std::move(reference);
}

}  // namespace kagent::spec
