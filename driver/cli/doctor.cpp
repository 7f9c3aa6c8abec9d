// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/finding.h"
#include "cli/json_output.h"
#include "cli/kernels.h"
#include "runner/processor_counters.h"
#include "store/variant_store.h"
#include "toolchain/host_toolchain.h"
#include "util/sandbox.h"
#include "util/subprocess.h"
#include "util/text.h"
#include "values/version.h"

namespace kagent::cli {
namespace {

struct DoctorOptions {
  ProjectOption project;
  bool json = false;
};

std::vector<Finding> examine(const DoctorOptions& options) {
  std::vector<Finding> findings;
  findings.push_back({"machine", true, toolchain::machine_description(), ""});
  findings.push_back(
      tool("C++ compiler", {"c++", "--version"}, "nothing can be tuned; builds name their own compiler"));
  findings.push_back(tool("binutils", {"nm", "--version"}, "nothing can be tuned: nm, ld and objcopy are used"));
  const util::SandboxState& sandbox = util::sandbox_state();
  findings.push_back({"sandbox", sandbox.available, sandbox.description,
                      "candidates are not run, unless KAGENT_ALLOW_UNSANDBOXED=ON lets them run as you"});
  findings.push_back(tool("git", {"git", "--version"},
                          "kagent itself does without (libgit2); you need it to check variants out and to push them"));
  auto variants = store::VariantStore::open(options.project.folder, options.project.folder / "build");
  if (variants)
    findings.push_back({"repository", variants->has_git(), util::clean(variants->description()),
                        "variants live in the build folder, and are lost with it"});
  else
    findings.push_back(
        {"repository", false, util::clean(variants.error().message), "variants come from variants/ alone"});
  Finding runtime{"runtime library", true, "", "nothing can be tuned"};
  try {
    runtime.found = find_runtime({}).string();
  } catch (const UserError& error) {
    runtime.present = false;
    runtime.found = error.what();
  }
  findings.push_back(runtime);
  const std::string obstacle = runner::ProcessorCounters::obstacle();
  findings.push_back({"processor counters", obstacle.empty(), obstacle.empty() ? "cycles, misses" : obstacle,
                      "what limits C++ kernels is told from time and the work in kernel.json"});
  for (Finding& finding : cuda_findings()) findings.push_back(std::move(finding));
  return findings;
}

int doctor(const DoctorOptions& options) {
  const std::vector<Finding> findings = examine(options);
  if (options.json) {
    nlohmann::ordered_json root = nlohmann::ordered_json::array();
    for (const Finding& finding : findings)
      root.push_back({{"part", finding.part},
                      {"present", finding.present},
                      {"found", finding.found},
                      {"without", finding.without}});
    print_json(root);
    return kDone;
  }
  fmt::print("kagent {}\n", kVersion);
  for (const Finding& finding : findings) {
    fmt::print("{:<8} {:<18} {}\n", finding.present ? "ok" : "MISSING", finding.part, finding.found);
    if (!finding.present) fmt::print("{:<27} without it: {}\n", "", finding.without);
  }
  return kDone;
}

}  // namespace

Finding tool(const std::string& part, std::vector<std::string> argv, const std::string& without, VersionLine line) {
  util::Command command;
  command.argv = std::move(argv);
  command.environment = util::minimal_environment();
  command.limits.wall = std::chrono::seconds(10);
  auto finished = util::run(command);
  if (!finished) return {part, false, finished.error().message, without};
  const bool runs = finished->ok();
  std::string text = runs ? finished->standard_output : "does not run: " + finished->standard_error;
  const std::size_t release = runs && line == VersionLine::release ? text.find("release ") : 0;
  if (release != text.npos && release > 0) text.erase(0, text.rfind('\n', release) + 1);
  text.resize(std::min(text.find('\n'), text.size()));
  return {part, runs, util::clean(text), without};
}

void add_doctor(CLI::App& app, Action& action) {
  auto options = std::make_shared<DoctorOptions>();
  CLI::App* command = app.add_subcommand("doctor", "What is installed, and what each missing piece costs");
  add_project_option(*command, options->project);
  command->add_flag("--json", options->json, "Print JSON");
  add_example(*command, "kagent doctor");
  command->callback([options, &action] { action = [options] { return doctor(*options); }; });
}

}  // namespace kagent::cli
