// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>

#include <fmt/core.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "cli/command.h"
#include "cli/json_output.h"
#include "cli/kernels.h"
#include "loop/reference.h"
#include "loop/workbench.h"
#include "runner/runner.h"
#include "spec/record.h"
#include "spec/spec.h"
#include "toolchain/host_toolchain.h"
#include "util/files.h"
#include "util/text.h"

namespace kagent::cli {
namespace {

namespace fs = std::filesystem;

// References are plain code, and large cases are slow in them.
constexpr std::chrono::minutes kReferenceTime{10};
// Files of this size do not belong into a repository.
constexpr std::uintmax_t kLargeFile = 10 << 20;

struct RecordOptions {
  fs::path golden, compiler, runtime;
  std::vector<std::string> cases;
  std::string standard;
  std::optional<std::uint64_t> seed;
  bool json = false;
};

fs::path find_compiler(const fs::path& given) {
  const char* from_environment = std::getenv("CXX");
  const fs::path wanted = !given.empty()                                             ? given
                          : from_environment != nullptr && *from_environment != '\0' ? from_environment
                                                                                     : "c++";
  if (wanted.has_parent_path()) {
    if (::access(wanted.c_str(), X_OK) == 0) return fs::absolute(wanted);
  } else if (const char* path = std::getenv("PATH")) {
    for (std::string_view rest = path; !rest.empty();) {
      const std::size_t end = std::min(rest.find(':'), rest.size());
      fs::path candidate = fs::path(rest.substr(0, end)) / wanted;
      if (candidate.is_absolute() && ::access(candidate.c_str(), X_OK) == 0) return candidate;
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  throw UserError("there is no compiler '" + wanted.string() + "'", "install g++, or name one with --compiler");
}

Binary compile_reference(const KernelSpec& spec, const RecordOptions& options, const fs::path& work) {
  toolchain::HostToolchainOptions tools;
  tools.command.compiler = find_compiler(options.compiler);
  if (!options.standard.empty()) tools.command.options = {"-std=" + options.standard};
  tools.runtime = find_runtime(options.runtime);
  tools.parameters = spec.parameters;
  // The project's own code, not a candidate: where there is no sandbox it runs as any of its tests would.
  tools.allow_unsandboxed = true;
  auto toolchain = toolchain::make_host_toolchain(toolchain::reference_options(tools, *spec.reference));
  CompileResult compiled = require(toolchain->compile({require(util::read_file(spec.reference->source)), work}));
  if (compiled.outcome != Outcome::ok)
    throw UserError(spec.reference->source.string() + " does not compile:\n" + compiled.diagnostics, "correct it");
  return std::move(compiled.binary);
}

void print(const std::string& case_name, const std::vector<fs::path>& files) {
  fmt::print("{}:\n", util::clean(case_name));
  for (const fs::path& file : files) {
    const std::uintmax_t bytes = fs::file_size(file);
    fmt::print("  wrote {}{}\n", util::clean(file.string()),
               bytes > kLargeFile ? fmt::format(" ({} MiB: large for a repository)", bytes >> 20) : "");
  }
}

KernelSpec load_with_reference(const fs::path& folder) {
  KernelSpec spec = require(spec::load(folder));
  if (!spec.reference)
    throw UserError((spec.folder / "kernel.json").string() + " names no reference",
                    "add \"reference\": {\"source\": \"reference.cpp\", \"function\": \"...\"}");
  return spec;
}

Case require_case(const KernelSpec& spec, const std::string& name) {
  if (const Case* found = spec.find_case(name)) return *found;
  std::vector<std::string> names;
  std::string list;
  for (const Case& known : spec.cases) {
    names.push_back(known.name);
    list += (list.empty() ? "" : ", ") + known.name;
  }
  const std::string near = util::nearest(name, names);
  throw UserError("there is no case '" + name + "'",
                  near.empty() ? "the cases are " + list : "did you mean '" + near + "'?");
}

int record(const RecordOptions& options) {
  KernelSpec spec = load_with_reference(options.golden);
  for (const std::string& name : options.cases) require_case(spec, name);
  const util::TemporaryFolder work("kagent-golden");
  const Binary reference = compile_reference(spec, options, work.path());
  auto runner = runner::make_host_runner();
  runner::RunnerLimits limits;
  limits.step = kReferenceTime;
  limits.allow_unsandboxed = true;
  auto session = require(runner->start(reference, loop::reference_parameters(spec), limits));

  const std::uint64_t seed = options.seed.value_or(loop::secret_seed());
  nlohmann::ordered_json lines = nlohmann::ordered_json::array();
  for (const std::string& name : options.cases) {
    const Case base = require_case(spec, name);
    const CallInputs inputs = require(spec::generate_inputs(spec, base, seed));
    const Expected expected = require(loop::ask_reference(spec, *session, inputs));
    const std::vector<fs::path> files = require(spec::record(spec, base, inputs, expected));
    nlohmann::ordered_json paths = nlohmann::ordered_json::array();
    for (const fs::path& file : files) paths.push_back(util::clean(file.string()));
    lines.push_back({{"case", name}, {"files", paths}});
    if (!options.json) print(name, files);
    spec = load_with_reference(options.golden);  // the next case must not take a file that this one has now
  }
  if (options.json) print_json(lines);
  return kDone;
}

}  // namespace

void add_golden(CLI::App& app, Action& action) {
  auto options = std::make_shared<RecordOptions>();
  CLI::App* golden = app.add_subcommand("golden", "Make golden data");
  golden->require_subcommand(1);
  add_example(*golden, "kagent golden record golden/softmax ragged");
  CLI::App* command = golden->add_subcommand(
      "record", "Write a case's inputs and expected values, as computed by the reference, as .npy files");
  command->add_option("folder", options->golden, "Golden folder of the kernel")->required();
  command->add_option("cases", options->cases, "Names of the cases to record")->required();
  command->add_option("--compiler", options->compiler, "C++ compiler for the reference; $CXX or c++ if left out");
  command->add_option("--standard", options->standard, "Language standard of the reference, such as gnu++20");
  command->add_option("--seed", options->seed, "Seed of generated inputs; a fresh one if left out");
  command->add_option("--runtime", options->runtime, "libkagent_runner.a");
  command->add_flag("--json", options->json, "Print JSON");
  add_example(*command, "kagent golden record golden/softmax ragged");
  command->callback([options, &action] { action = [options] { return record(*options); }; });
}

}  // namespace kagent::cli
