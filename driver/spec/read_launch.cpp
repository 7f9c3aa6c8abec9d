// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <utility>

#include <nlohmann/json.hpp>

#include "spec/read_parts.h"
#include "spec/spec.h"
#include "values/instance.h"

namespace kagent::spec {
namespace {

// CUDA C++ Programming Guide, "Features and Technical Specifications per Compute Capability"; clusters of more than 8
// blocks are not portable, 16 is the most that any device has.
constexpr std::int64_t kMostThreads = 1024, kMostThreadsZ = 64, kMostClusterBlocks = 16;
// "Total amount of constant memory".
constexpr std::int64_t kConstantBytes = 64 * 1024;

const Expression& one() {
  static const Expression expression = *Expression::parse("1");
  return expression;
}

std::optional<std::int64_t> literal(const Expression& expression) {
  if (!expression.names().empty()) return std::nullopt;
  const auto value = expression.evaluate([](std::string_view) { return nullptr; });
  return value ? std::optional(*value) : std::nullopt;
}

// An expression over sizes and tunables. What depends on sizes alone makes sense under every case.
std::optional<Expression> geometry_expression(const Node& node, const Reading& reading, std::int64_t least) {
  std::optional<Expression> expression = node.expression();
  if (!expression || !reading.parameters_known) return expression;
  std::vector<std::string> names;
  for (const Parameter& parameter : reading.spec.parameters)
    if (parameter.kind == ParameterKind::size) names.push_back(parameter.name);
  for (const Tunable& tunable : reading.spec.tunables) names.push_back(tunable.name);
  bool only_sizes = true;
  for (const std::string& name : expression->names()) {
    if (reading.doubtful.contains(name)) return std::nullopt;
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      node.problem("there is no size or tunable '" + name + "'", util::suggest(name, names, "size or tunable"));
      return std::nullopt;
    }
    only_sizes = only_sizes && reading.spec.find_parameter(name) != nullptr;
  }
  if (const auto value = literal(*expression); value && *value < least)
    node.problem("it is " + std::to_string(*value), "it must be at least " + std::to_string(least));
  if (!only_sizes || expression->names().empty()) return expression;
  for (const Case& entry : reading.spec.cases) {
    const auto has_size = [&entry](const std::string& name) { return entry.sizes.contains(name); };
    if (!std::all_of(expression->names().begin(), expression->names().end(), has_size)) continue;
    const auto value = evaluate(*expression, entry.sizes);
    if (!value)
      node.problem("in case '" + entry.name + "': " + value.error().message, value.error().fix);
    else if (*value < 0)
      node.problem("it is " + std::to_string(*value) + " in case '" + entry.name + "'", "it must not be negative");
  }
  return expression;
}

// One to three extents, x first; those that are not given are 1.
std::array<Expression, 3> read_extents(const Node& node, const Reading& reading) {
  std::array<Expression, 3> extents{one(), one(), one()};
  if (!node.is_array()) return extents;
  if (node.value().empty() || node.value().size() > extents.size()) {
    node.problem(std::to_string(node.value().size()) + " extents", "give one to three: x, y, z");
    return extents;
  }
  std::size_t axis = 0;
  for (const Node& element : node.elements()) {
    if (auto expression = geometry_expression(element, reading, 1)) extents[axis] = std::move(*expression);
    ++axis;
  }
  return extents;
}

void check_at_most(const Node& node, const std::array<Expression, 3>& extents, std::int64_t most,
                   const std::string& what) {
  std::int64_t product = 1;
  for (const Expression& extent : extents)
    if (const auto value = literal(extent); value && *value > 0)
      product = *value > most / product ? most + 1 : product * *value;
  if (product > most) node.problem("more than " + std::to_string(most) + " " + what, "use smaller extents");
}

void check_block(const Node& node, const std::array<Expression, 3>& block) {
  check_at_most(node, block, kMostThreads, "threads in a block");
  if (const auto z = literal(block[2]); z && *z > kMostThreadsZ)
    node.problem("a block of " + std::to_string(*z) + " threads in z", "use at most " + std::to_string(kMostThreadsZ));
}

void read_instance(const Node& node, const Reading& reading, Launch& launch) {
  const auto text = node.text("write the instance, such as \"softmax_rows<float, BLOCK>\"");
  if (!text || reading.spec.entry.empty()) return;
  launch.instance = *text;
  if (!is_instance_of(*text, reading.spec.entry))
    node.problem(shown(node.value()) + " is no instance of the entry",
                 "write \"" + reading.spec.entry + "<...>\", tunables by their names");
}

// Every input in constant memory has a fixed size, and together they fit.
void check_constants(const Node& root, const Reading& reading) {
  if (!reading.parameters_known) return;
  std::int64_t total = 0;
  for (const Parameter& parameter : reading.spec.parameters) {
    if (!parameter.constant_memory) continue;
    std::int64_t bytes = static_cast<std::int64_t>(size_bytes(parameter.dtype));
    for (const Expression& extent : parameter.shape) {
      const auto value = literal(extent);
      if (!value) return;  // reported with the parameter
      if (*value > 0 && bytes > kConstantBytes / *value)
        bytes = kConstantBytes + 1;
      else
        bytes *= *value;
    }
    total += std::min(bytes, kConstantBytes + 1);
  }
  if (total > kConstantBytes)
    root.find("parameters")
        ->problem("more than 64 KiB of constant memory", "leave \"memory\" out for the largest input");
}

}  // namespace

void read_launch(const Node& root, Reading& reading) {
  check_constants(root, reading);
  const auto found = root.find("launch");
  if (reading.spec.style == Style::launcher) {
    if (found && reading.style_known)
      found->problem("a launch geometry in style \"launcher\"",
                     "remove it: the source launches its kernels; or set \"style\" to \"kernel\"");
    return;
  }
  const auto node = found ? found : root.require("launch", "add \"launch\": {\"grid\": [...], \"block\": [...]}");
  if (!node || !node->is_object_of({"grid", "block", "cluster", "shared_memory", "instantiate"})) return;
  Launch launch{{one(), one(), one()}, {one(), one(), one()}, {}, {}, {}};
  if (const auto grid = node->require("grid", "give the number of blocks, such as [\"ceil_div(rows, BLOCK)\"]"))
    launch.grid = read_extents(*grid, reading);
  if (const auto block = node->require("block", "give the number of threads of a block, such as [256]")) {
    launch.block = read_extents(*block, reading);
    check_block(*block, launch.block);
  }
  if (const auto cluster = node->find("cluster")) {
    launch.cluster = read_extents(*cluster, reading);
    check_at_most(*cluster, *launch.cluster, kMostClusterBlocks, "blocks in a cluster");
  }
  if (const auto shared = node->find("shared_memory")) launch.shared_memory = geometry_expression(*shared, reading, 0);
  if (const auto instance = node->find("instantiate")) read_instance(*instance, reading, launch);
  reading.spec.launch = std::move(launch);
}

}  // namespace kagent::spec
