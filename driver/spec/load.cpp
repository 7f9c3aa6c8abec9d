// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <nlohmann/json.hpp>

#include "spec/read_parts.h"
#include "spec/spec.h"
#include "util/files.h"

namespace kagent::spec {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kMaxFile = 1 << 20;

const std::vector<std::string> kKeys{
    "$schema",   "kernel", "style",  "entry", "launch",   "architecture_specific", "parameters", "cases", "reference",
    "tolerance", "inputs", "stress", "work",  "tunables", "constraints",           "requires",   "rules", "goal"};

void read_kernel(const Node& root, KernelSpec& spec) {
  const auto node = root.require("kernel", "add the kernel's name, as in the CMake call");
  const auto text = node ? node->text() : std::nullopt;
  if (!text) return;
  spec.kernel = *text;
  if (!is_file_name_part(*text, false))
    node->problem(shown(node->value()) + " is no name of a kernel", "use letters, digits, _ and -, at most 64");
}

// Whether it could be read; left out, it is "launcher".
bool read_style(const Node& root, KernelSpec& spec) {
  const auto node = root.find("style");
  if (!node) return true;
  const auto text = node->text();
  if (!text) return false;
  if (*text != "kernel" && *text != "launcher") {
    node->problem("there is no style " + shown(node->value()),
                  "write \"launcher\" (a host function) or \"kernel\" (a __global__ function)");
    return false;
  }
  spec.style = *text == "kernel" ? Style::kernel : Style::launcher;
  return true;
}

void read_entry(const Node& root, KernelSpec& spec) {
  const auto node = root.require("entry", "add the name of the function");
  const auto text = node ? node->text() : std::nullopt;
  if (!text) return;
  spec.entry = *text;
  if (!is_qualified_identifier(*text))
    node->problem(shown(node->value()) + " is not the name of a C++ function", "write name or namespace::name");
}

void list_files(KernelSpec& spec) {
  std::vector<fs::path>& files = spec.files;
  files.push_back(spec.folder / "kernel.json");
  for (const Case& entry : spec.cases)
    for (const auto* recorded : {&entry.inputs, &entry.expected})
      for (const auto& [name, file] : *recorded) files.push_back(file);
  if (spec.reference) files.push_back(spec.reference->source);
  std::sort(files.begin() + 1, files.end());
  files.erase(std::unique(files.begin(), files.end()), files.end());
}

void read_all(const Node& root, KernelSpec& spec) {
  if (!root.is_object_of(kKeys)) return;
  if (const auto schema = root.find("$schema")) schema->text();
  Reading reading{spec, true, false, {}};
  read_kernel(root, spec);
  reading.style_known = read_style(root, spec);
  read_entry(root, spec);
  if (const auto specific = root.find("architecture_specific"))
    spec.architecture_specific = specific->boolean().value_or(false);
  read_parameters(root, reading);
  read_requirements(root, reading);
  read_cases(root, reading);
  read_reference(root, reading);
  read_tolerance(root, reading);
  read_inputs(root, reading);
  read_stress(root, reading);
  read_work(root, reading);
  read_tunables(root, reading);
  read_launch(root, reading);
  read_rules(root, reading);
  read_goal(root, reading);
}

}  // namespace

Result<KernelSpec> load(const fs::path& folder) {
  KernelSpec spec;
  spec.folder = fs::absolute(folder).lexically_normal();
  if (!spec.folder.has_filename()) spec.folder = spec.folder.parent_path();
  const fs::path file = spec.folder / "kernel.json";
  std::error_code error;
  if (!fs::exists(file, error))
    return failure("there is no '" + file.string() + "'", "run 'kagent init SOURCE ENTRY' to make a first one");
  if (fs::is_regular_file(file, error) && fs::file_size(file, error) > kMaxFile)
    return failure("'" + file.string() + "' has more than 1 MiB", "keep data in .npy files beside it");
  const Result<std::string> text = util::read_file(file);
  if (!text) return std::unexpected(text.error());

  util::Problems problems;
  const util::Json json = util::parse_strictly(*text, problems);
  if (!json.is_null() || problems.empty()) read_all(Node(json, "", problems), spec);
  if (!problems.empty()) return std::unexpected(problems.error(file));
  list_files(spec);
  return spec;
}

}  // namespace kagent::spec
