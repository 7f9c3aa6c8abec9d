// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>

#include <nlohmann/json.hpp>

#include "spec/npy.h"
#include "spec/read_parts.h"
#include "spec/spec.h"

namespace kagent::spec {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kMaxSize = std::numeric_limits<std::int64_t>::max();

bool is_size(const Parameter& parameter) {
  return parameter.kind == ParameterKind::size;
}
bool is_scalar(const Parameter& parameter) {
  return parameter.kind == ParameterKind::scalar;
}
bool is_read(const Parameter& parameter) {
  return parameter.is_read();
}
bool is_written(const Parameter& parameter) {
  return parameter.is_written();
}

// True if every size has a value, so that shapes can be computed.
bool read_sizes(const Node& node, Case& entry, const Reading& reading) {
  const auto& parameters = reading.spec.parameters;
  const bool any = std::any_of(parameters.begin(), parameters.end(), is_size);
  const auto sizes = any ? node.require("sizes", "give every size a value") : node.find("sizes");
  if (!sizes) return !any;
  if (!sizes->is_object()) return false;
  bool sound = reading.parameters_known;
  for (const auto& [name, value] : sizes->members()) {
    const Parameter* parameter = reading.named(value, name, is_size, "size");
    const double most = parameter != nullptr ? highest_value(parameter->dtype) : 0x1p63;
    const auto number = value.integer(0, most >= 0x1p63 ? kMaxSize : static_cast<std::int64_t>(most));
    if (number && parameter != nullptr)
      entry.sizes[name] = *number;
    else
      sound = false;
  }
  for (const Parameter& parameter : parameters)
    if (is_size(parameter) && !reading.doubtful.contains(parameter.name) && !sizes->has(parameter.name)) {
      sizes->problem("size '" + parameter.name + "' is missing", "add \"" + parameter.name + "\": 1024 or the like");
      sound = false;
    }
  return sound;
}

void read_scalars(const Node& node, Case& entry, const Reading& reading) {
  const auto scalars = node.find("scalars");
  if (!scalars || !scalars->is_object()) return;
  for (const auto& [name, value] : scalars->members()) {
    const Parameter* parameter = reading.named(value, name, is_scalar, "scalar");
    if (!value.value().is_number() && !value.value().is_boolean()) {
      value.problem(shown(value.value()) + " is not a number", "write a number");
      continue;
    }
    if (parameter == nullptr) continue;
    const bool truth = value.value().is_boolean();
    const double number = truth ? (value.value().get<bool>() ? 1.0 : 0.0) : value.value().get<double>();
    if (is_value_of(parameter->dtype, number) && (!truth || parameter->dtype == DType::boolean))
      entry.scalars[name] = number;
    else
      value.problem(shown(value.value()) + " is no value of " + std::string(kagent::name(parameter->dtype)),
                    is_floating(parameter->dtype) ? "use a number within the type's range"
                                                  : "use a whole number within the type's range, at most 2^53");
  }
}

std::map<std::string, fs::path> read_files(const Node& node, const std::string& key, const std::string& kind,
                                           bool (*fits)(const Parameter&), const Reading& reading) {
  std::map<std::string, fs::path> files;
  const auto object = node.find(key);
  if (!object || !object->is_object()) return files;
  for (const auto& [name, value] : object->members()) {
    const Parameter* parameter = reading.named(value, name, fits, kind);
    const auto file = golden_file(value, reading, ".npy");
    if (file && parameter != nullptr) files[name] = *file;
  }
  return files;
}

void check_file(const Node& node, const fs::path& file, const Parameter& parameter,
                const std::vector<std::int64_t>& shape) {
  const auto present = read_npy_shape(file, parameter.dtype);
  if (!present)
    node.problem(present.error().message, present.error().fix);
  else if (*present != shape)
    node.problem("'" + file.filename().string() + "' has the shape " + shape_text(*present) + " and '" +
                     parameter.name + "' has " + shape_text(shape) + " under these sizes",
                 "correct the sizes or the file");
}

// What depends on the values of the sizes: requirements, extents, shapes of recorded files.
void check_sizes(const Node& node, const Case& entry, const Reading& reading) {
  for (const Expression& requirement : reading.spec.requirements) {
    const auto held = evaluate(requirement, entry.sizes);
    if (!held)
      node.problem(held.error().message, held.error().fix);
    else if (*held == 0)
      node.problem("the sizes violate \"requires\": '" + requirement.text() + "'",
                   "change the sizes or the requirement");
  }
  for (const Parameter& parameter : reading.spec.parameters) {
    if (!parameter.is_buffer() || reading.doubtful.contains(parameter.name)) continue;
    const auto shape = extents(parameter, entry.sizes);
    if (!shape) {
      node.problem(shape.error().message, shape.error().fix);
      continue;
    }
    for (const auto& [key, files] : {std::pair{"inputs", &entry.inputs}, std::pair{"expected", &entry.expected}})
      if (const auto file = files->find(parameter.name); file != files->end())
        check_file(*node.find(key)->find(parameter.name), file->second, parameter, *shape);
    const bool empty = std::find(shape->begin(), shape->end(), 0) != shape->end();
    if (empty && entry.timed && parameter.is_written())
      node.problem("a timed case with an empty output '" + parameter.name + "'", "time a case that computes something");
  }
}

void check_expected(const Node& node, const Case& entry, const Reading& reading) {
  if (entry.expected.empty()) return;
  for (const Parameter& parameter : reading.spec.parameters) {
    if (reading.doubtful.contains(parameter.name)) continue;
    if (parameter.is_read() && !entry.inputs.contains(parameter.name))
      node.problem("expected values are recorded, but the input '" + parameter.name + "' is generated anew each time",
                   "record it under \"inputs\" as well");
    if (is_scalar(parameter) && !entry.scalars.contains(parameter.name))
      node.problem("expected values are recorded, but the scalar '" + parameter.name + "' is generated anew each time",
                   "fix it under \"scalars\"");
    if (parameter.is_written() && !entry.expected.contains(parameter.name))
      node.problem("expected values are recorded, but not of '" + parameter.name + "'", "record all outputs, or none");
  }
}

void read_timing(const Node& node, Case& entry) {
  if (const auto timed = node.find("timed"))
    if (const auto value = timed->boolean()) entry.timed = *value;
  const auto weight = node.find("weight");
  if (!weight) return;
  const auto value = weight->number(0, 1e9);
  if (value && *value <= 0)
    weight->problem("a weight of 0", "give a positive share, or do not time the case");
  else if (value && !entry.timed)
    weight->problem("a weight without \"timed\": true", "time the case, or remove the weight");
  else if (value)
    entry.weight = *value;
}

std::string read_case_name(const Node& node, const Reading& reading) {
  const auto name = node.require("name", "add the case's name");
  const auto text = name ? name->text() : std::nullopt;
  if (!text) return {};
  if (!is_file_name_part(*text, true))
    name->problem(shown(name->value()) + " is no name of a case", "use letters, digits, _ - and ., at most 64");
  else if (reading.spec.find_case(*text) != nullptr)
    name->problem("a second case '" + *text + "'", "give each case a name of its own");
  return *text;
}

void read_case(const Node& node, Reading& reading) {
  const bool object = node.is_object_of({"name", "sizes", "scalars", "inputs", "expected", "timed", "weight"});
  if (!object) return;
  Case entry;
  entry.name = read_case_name(node, reading);
  const bool sized = read_sizes(node, entry, reading);
  read_scalars(node, entry, reading);
  entry.inputs = read_files(node, "inputs", "input", is_read, reading);
  entry.expected = read_files(node, "expected", "output", is_written, reading);
  read_timing(node, entry);
  if (sized) check_sizes(node, entry, reading);
  const auto given = [&node](const char* key) { return node.has(key) ? node.value()[key].size() : 0; };
  const bool files_sound = given("inputs") == entry.inputs.size() && given("expected") == entry.expected.size();
  if (reading.parameters_known && files_sound) check_expected(node, entry, reading);
  reading.spec.cases.push_back(std::move(entry));
}

}  // namespace

std::optional<fs::path> golden_file(const Node& node, const Reading& reading, std::string_view extension) {
  const auto text = node.text();
  if (!text) return std::nullopt;
  const fs::path relative(*text);
  const bool upwards = std::find(relative.begin(), relative.end(), "..") != relative.end();
  if (text->empty() || text->find('\0') != std::string::npos || text->find('\\') != std::string::npos ||
      relative.is_absolute() || upwards) {
    node.problem(shown(node.value()) + " is not a path inside the golden folder",
                 "put the file into the folder and name it relative to kernel.json");
    return std::nullopt;
  }
  if (!extension.empty() && relative.extension() != extension) {
    node.problem(shown(node.value()) + " is not a " + std::string(extension) + " file", "write it with numpy.save");
    return std::nullopt;
  }
  const fs::path file = (reading.spec.folder / relative).lexically_normal();
  std::error_code error;
  const fs::path real = fs::canonical(file, error), folder = fs::canonical(reading.spec.folder, error);
  if (error || !fs::is_regular_file(real, error)) {
    node.problem("there is no file " + shown(node.value()) + " in the golden folder", "add it, or correct the name");
    return std::nullopt;
  }
  if (std::mismatch(folder.begin(), folder.end(), real.begin(), real.end()).first != folder.end()) {
    node.problem(shown(node.value()) + " is a link out of the golden folder", "copy the file into the folder");
    return std::nullopt;
  }
  return file;
}

void read_cases(const Node& root, Reading& reading) {
  const auto node = root.require("cases", "add at least one case, with sizes, and \"timed\": true");
  if (!node || !node->is_array()) return;
  for (const Node& element : node->elements()) read_case(element, reading);
  const auto& cases = reading.spec.cases;
  const bool any_timed = std::any_of(cases.begin(), cases.end(), [](const Case& entry) { return entry.timed; });
  if (!any_timed && cases.size() == node->value().size())
    node->problem("no case is timed", "add \"timed\": true to the cases whose speed matters");
}

}  // namespace kagent::spec
