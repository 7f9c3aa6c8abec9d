// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <utility>

#include <nlohmann/json.hpp>

#include "spec/read_parts.h"

namespace kagent::spec {
namespace {

constexpr std::size_t kMaxDimensions = 8;
constexpr std::int64_t kMaxAlignment = 4096;

constexpr std::pair<std::string_view, ParameterKind> kKinds[] = {
    {"input", ParameterKind::input},  {"output", ParameterKind::output}, {"inout", ParameterKind::inout},
    {"size", ParameterKind::size},    {"scalar", ParameterKind::scalar}, {"workspace", ParameterKind::workspace},
    {"stream", ParameterKind::stream}};

const std::vector<std::string>& dtype_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> result;
    for (int i = 0; i <= static_cast<int>(DType::boolean); ++i) result.emplace_back(name(static_cast<DType>(i)));
    return result;
  }();
  return names;
}

std::optional<ParameterKind> read_kind(const Node& parameter) {
  const auto node = parameter.require("kind", "add input, output, inout, size, scalar, workspace or stream");
  const auto text = node ? node->text() : std::nullopt;
  if (!text) return std::nullopt;
  std::vector<std::string> names;
  for (const auto& [known, kind] : kKinds) {
    if (known == *text) return kind;
    names.emplace_back(known);
  }
  node->problem("there is no kind " + shown(node->value()), util::suggest(*text, names, "kind"));
  return std::nullopt;
}

std::optional<DType> read_dtype(const Node& parameter) {
  const auto node = parameter.require("dtype", "add the element type, such as \"float32\"");
  const auto text = node ? node->text() : std::nullopt;
  if (!text) return std::nullopt;
  if (const auto dtype = parse_dtype(*text)) return dtype;
  static const std::pair<std::string_view, std::string_view> kUsual[] = {
      {"float", "float32"}, {"double", "float64"}, {"half", "float16"}, {"int", "int32"}, {"long", "int64"}};
  for (const auto& [usual, ours] : kUsual)
    if (usual == *text) {
      node->problem("there is no dtype " + shown(node->value()), "write \"" + std::string(ours) + "\"");
      return std::nullopt;
    }
  node->problem("there is no dtype " + shown(node->value()), util::suggest(*text, dtype_names(), "dtype"));
  return std::nullopt;
}

bool read_name(const Node& node, Parameter& parameter, const Reading& reading) {
  const auto name = node.require("name", "add the parameter's name");
  const auto text = name ? name->text() : std::nullopt;
  if (!text) return false;
  if (!is_identifier(*text) || is_cpp_keyword(*text)) {
    name->problem(shown(name->value()) + " is not a C++ name", "use letters, digits and _, and no keyword");
    return false;
  }
  if (reading.spec.find_parameter(*text) != nullptr) {
    name->problem("a second parameter '" + *text + "'", "give each parameter a name of its own");
    return false;
  }
  parameter.name = *text;
  return true;
}

void read_memory(const Node& node, Parameter& parameter, const Reading& reading) {
  const auto memory = node.find("memory");
  const auto text = memory ? memory->text("write \"constant\", or leave it out") : std::nullopt;
  if (!text) return;
  if (*text != "constant")
    memory->problem("there is no memory " + shown(memory->value()), "write \"constant\", or leave it out");
  else if (reading.style_known && reading.spec.style != Style::kernel)
    memory->problem("constant memory in style \"launcher\"", "remove it: the source itself copies what it needs");
  else if (parameter.kind != ParameterKind::input)
    memory->problem("only inputs can lie in constant memory", "remove it");
  else
    parameter.constant_memory = true;
}

// Everything of one parameter but its shape, which may name sizes that come later.
bool read_parameter(const Node& node, Reading& reading) {
  if (!node.is_object_of({"name", "kind", "dtype", "shape", "alignment", "memory"})) return false;
  Parameter parameter;
  const bool named = read_name(node, parameter, reading);
  const auto kind = read_kind(node);
  if (kind) parameter.kind = *kind;
  bool sound = named && kind;
  if (kind == ParameterKind::stream && reading.spec.style == Style::kernel)
    node.find("kind")->problem("a stream in style \"kernel\"",
                               "remove the parameter: the generated launcher takes a stream in front of the others");
  if (kind == ParameterKind::stream) {
    if (const auto dtype = node.find("dtype")) dtype->problem("a stream has no dtype", "remove it");
  } else if (const auto dtype = read_dtype(node)) {
    parameter.dtype = *dtype;
  } else {
    sound = false;
  }
  if (kind == ParameterKind::size && sound && (is_floating(parameter.dtype) || parameter.dtype == DType::boolean)) {
    node.find("dtype")->problem("a size of type " + std::string(name(parameter.dtype)), "use an integer type");
    sound = false;
  }
  if (kind == ParameterKind::size &&
      (parameter.name == "min" || parameter.name == "max" || parameter.name == "ceil_div"))
    node.find("name")->problem("'" + parameter.name + "' is a function in expressions", "rename the size");
  read_memory(node, parameter, reading);
  if (named && !sound) reading.doubtful.insert(parameter.name);
  if (named) reading.spec.parameters.push_back(std::move(parameter));
  return named;
}

void read_alignment(const Node& node, Parameter& parameter) {
  const auto alignment = node.find("alignment");
  if (!alignment) return;
  if (!parameter.is_buffer()) {
    alignment->problem("only buffers have an alignment", "remove it");
    return;
  }
  if (parameter.constant_memory) {
    alignment->problem("an alignment of constant memory", "remove it: the __constant__ variable has its own");
    return;
  }
  const auto bytes = alignment->integer(1, kMaxAlignment);
  if (!bytes) return;
  const auto item = static_cast<std::int64_t>(size_bytes(parameter.dtype));
  if ((*bytes & (*bytes - 1)) != 0 || *bytes < item)
    alignment->problem(std::to_string(*bytes) + " bytes is no alignment of " + std::string(name(parameter.dtype)),
                       "use a power of two from " + std::to_string(item) + " to " + std::to_string(kMaxAlignment));
  else
    parameter.alignment_bytes = *bytes;
}

void read_shape(const Node& node, Parameter& parameter, const Reading& reading) {
  const bool doubtful = reading.doubtful.contains(parameter.name);
  read_alignment(node, parameter);
  if (!parameter.is_buffer() && !doubtful) {
    if (const auto shape = node.find("shape")) shape->problem("only buffers have a shape", "remove it");
    return;
  }
  const auto shape =
      doubtful ? node.find("shape") : node.require("shape", "add the extents, such as [\"rows\", \"cols\"]");
  if (!shape || !shape->is_array()) return;
  if (shape->value().size() > kMaxDimensions) {
    shape->problem(std::to_string(shape->value().size()) + " dimensions",
                   "use at most " + std::to_string(kMaxDimensions));
    return;
  }
  for (const Node& extent : shape->elements()) {
    auto expression = size_expression(extent, reading);
    if (!expression) continue;
    if (parameter.constant_memory && !expression->names().empty())
      extent.problem("constant memory of a size that varies", "write numbers: a __constant__ array has a fixed size");
    parameter.shape.push_back(std::move(*expression));
  }
}

void check_together(const Node& node, const Reading& reading) {
  const auto& parameters = reading.spec.parameters;
  const auto written =
      std::any_of(parameters.begin(), parameters.end(), [](const Parameter& p) { return p.is_written(); });
  if (!written && reading.doubtful.empty()) node.problem("no parameter is written", "make one an output or inout");
  const auto streams = std::count_if(parameters.begin(), parameters.end(),
                                     [](const Parameter& p) { return p.kind == ParameterKind::stream; });
  if (streams > 1) node.problem(std::to_string(streams) + " streams", "keep one");
}

}  // namespace

const Parameter* Reading::named(const Node& node, const std::string& name, bool (*fits)(const Parameter&),
                                const std::string& kind) const {
  const Parameter* found = spec.find_parameter(name);
  if (found != nullptr && fits(*found) && !doubtful.contains(name)) return found;
  if (!parameters_known || doubtful.contains(name)) return nullptr;
  std::vector<std::string> names;
  for (const Parameter& parameter : spec.parameters)
    if (fits(parameter)) names.push_back(parameter.name);
  const std::string article = std::string("aio").find(kind[0]) != std::string::npos ? "an " : "a ";
  if (found != nullptr)
    node.problem("'" + name + "' is not " + article + kind, util::suggest(name, names, kind));
  else
    node.problem("there is no " + kind + " '" + name + "'", util::suggest(name, names, kind));
  return nullptr;
}

std::optional<Expression> size_expression(const Node& node, const Reading& reading) {
  std::optional<Expression> expression = node.expression();
  if (!expression || !reading.parameters_known) return expression;
  bool sound = true;
  for (const std::string& name : expression->names())
    if (reading.named(
            node, name, [](const Parameter& p) { return p.kind == ParameterKind::size; }, "size") == nullptr)
      sound = false;
  return sound ? std::move(expression) : std::nullopt;
}

void read_parameters(const Node& root, Reading& reading) {
  const auto node = root.require("parameters", "list the entry's parameters in order");
  if (!node || !node->is_array()) return;
  if (node->value().empty()) {
    node->problem("no parameters", "list the entry's parameters in order");
    return;
  }
  std::vector<Node> named;
  bool all_named = true;
  for (const Node& element : node->elements()) {
    if (read_parameter(element, reading))
      named.push_back(element);
    else
      all_named = false;
  }
  reading.parameters_known = all_named;
  for (std::size_t i = 0; i < named.size(); ++i) read_shape(named[i], reading.spec.parameters[i], reading);
  if (all_named) check_together(*node, reading);
}

double lowest_value(DType dtype) {
  if (dtype == DType::boolean || !is_signed_integer(dtype)) return 0;
  return -std::ldexp(1.0, static_cast<int>(size_bytes(dtype)) * 8 - 1);
}

double highest_value(DType dtype) {
  if (dtype == DType::boolean) return 1;
  const int bits = static_cast<int>(size_bytes(dtype)) * 8 - (is_signed_integer(dtype) ? 1 : 0);
  return std::ldexp(1.0, bits) - 1;
}

bool is_value_of(DType dtype, double value) {
  if (is_floating(dtype)) return std::isfinite(value) && std::fabs(value) <= largest_finite(dtype);
  return std::trunc(value) == value && value >= lowest_value(dtype) && value <= highest_value(dtype) &&
         std::fabs(value) <= 0x1p53;
}

}  // namespace kagent::spec
