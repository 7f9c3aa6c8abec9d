// SPDX-License-Identifier: Apache-2.0
#include "spec/record.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "spec/json_text.h"
#include "spec/npy.h"
#include "spec/spec.h"
#include "util/files.h"

namespace kagent::spec {
namespace {

namespace fs = std::filesystem;
using Files = std::map<std::string, fs::path>;

// Where a parameter's values go: the file that the case names already, or a name made of both.
Result<fs::path> target_file(const KernelSpec& spec, const Case& base, const Files& known,
                             const std::string& parameter) {
  if (const auto found = known.find(parameter); found != known.end()) return found->second;
  const fs::path file = spec.folder / (base.name + "." + parameter + ".npy");
  for (const Case& other : spec.cases)
    for (const Files* files : {&other.inputs, &other.expected})
      for (const auto& [name, used] : *files)
        if (used == file)
          return failure("'" + file.string() + "' belongs to case '" + other.name + "'",
                         "rename that file or the case");
  return file;
}

Tensor rounded_to(DType dtype, const Tensor& wide) {
  if (wide.dtype == dtype) return wide;
  Tensor tensor = make_tensor(dtype, wide.shape);
  for (std::int64_t i = 0; i < wide.element_count(); ++i) tensor.set(i, wide.at(i));
  return tensor;
}

// An inout is an input and an output, whose files differ.
Files named_apart(const KernelSpec& spec, const Case& base, Files files) {
  for (auto& [name, file] : files)
    if (spec.find_parameter(name)->kind == ParameterKind::inout && !base.expected.contains(name))
      file = spec.folder / (base.name + "." + name + ".expected.npy");
  return files;
}

Result<Files> target_files(const KernelSpec& spec, const Case& base, const std::map<std::string, Tensor>& tensors,
                           const Files& known) {
  Files files;
  for (const auto& [name, tensor] : tensors) {
    auto file = target_file(spec, base, known, name);
    if (!file) return std::unexpected(file.error());
    files[name] = *file;
  }
  return files;
}

util::Json names_of(const KernelSpec& spec, const Files& files) {
  util::Json names = util::Json::object();
  for (const Parameter& parameter : spec.parameters)
    if (const auto found = files.find(parameter.name); found != files.end())
      names[parameter.name] = found->second.lexically_relative(spec.folder).generic_string();
  return names;
}

Result<void> replace_spec(const KernelSpec& spec, const Case& base, const CallInputs& inputs, const Files& input_files,
                          const Files& expected_files) {
  const fs::path file = spec.folder / "kernel.json";
  const auto text = util::read_file(file);
  if (!text) return std::unexpected(text.error());
  util::Problems problems;
  util::Json json = util::parse_strictly(*text, problems);
  if (!problems.empty()) return std::unexpected(problems.error(file));
  for (util::Json& entry : json["cases"]) {
    if (entry["name"] != base.name) continue;
    if (!inputs.scalars.empty()) entry["scalars"] = inputs.scalars;
    if (!input_files.empty()) entry["inputs"] = names_of(spec, input_files);
    entry["expected"] = names_of(spec, expected_files);
  }
  if (auto written = util::write_file_atomically(file, json_text(json)); !written) return written;
  if (auto loaded = load(spec.folder); !loaded) {
    if (auto restored = util::write_file_atomically(file, *text); !restored) return restored;
    return failure("recording case '" + base.name + "' would break the spec: " + loaded.error().message);
  }
  return {};
}

}  // namespace

Result<std::vector<fs::path>> record(const KernelSpec& spec, const Case& base, const CallInputs& inputs,
                                     const Expected& expected) {
  const auto input_files = target_files(spec, base, inputs.tensors, base.inputs);
  if (!input_files) return std::unexpected(input_files.error());
  auto expected_files = target_files(spec, base, expected.tensors, base.expected);
  if (!expected_files) return std::unexpected(expected_files.error());
  *expected_files = named_apart(spec, base, std::move(*expected_files));

  std::vector<fs::path> written;
  for (const Parameter& parameter : spec.parameters) {
    if (const auto found = inputs.tensors.find(parameter.name);
        found != inputs.tensors.end() && !base.inputs.contains(parameter.name)) {
      const fs::path& file = input_files->at(parameter.name);
      if (auto done = write_npy(file, found->second); !done) return std::unexpected(done.error());
      written.push_back(file);
    }
    if (const auto found = expected.tensors.find(parameter.name); found != expected.tensors.end()) {
      const fs::path& file = expected_files->at(parameter.name);
      if (auto done = write_npy(file, rounded_to(parameter.dtype, found->second)); !done)
        return std::unexpected(done.error());
      written.push_back(file);
    }
  }
  if (auto done = replace_spec(spec, base, inputs, *input_files, *expected_files); !done)
    return std::unexpected(done.error());
  written.push_back(spec.folder / "kernel.json");
  return written;
}

}  // namespace kagent::spec
