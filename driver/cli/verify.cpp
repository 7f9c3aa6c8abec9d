// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "build_step/pick.h"
#include "build_step/request.h"
#include "cli/command.h"
#include "cli/json_output.h"
#include "cli/kernels.h"
#include "cli/turns.h"
#include "loop/workbench.h"
#include "report/progress.h"
#include "util/text.h"

namespace kagent::cli {
namespace {

struct VerifyOptions {
  BuildOption build;
  std::string kernel;
  std::filesystem::path runtime;
  bool json = false, all = false;
};

// Checks what the build compiles under a fresh secret seed.
loop::VerificationReport verify_choice(const build_step::KernelContext& context, const Choice& choice,
                                       const loop::WorkbenchOptions& options) {
  auto progress = report::make_progress(stderr);
  auto bench = require(loop::Workbench::open(context, options, *progress));
  if (!choice.variant) return require(bench->verify_as_built(bench->built_baseline()));
  const CompileResult compiled = require(bench->compile_as_built(loop::as_candidate(*choice.variant)));
  if (compiled.outcome != Outcome::ok) {
    loop::VerificationReport report;
    report.outcome = compiled.outcome;
    report.detail = compiled.diagnostics;
    return report;
  }
  return require(bench->verify_as_built(compiled.binary));
}

void print(const build_step::KernelContext& context, const std::string& what, const loop::VerificationReport& report,
           bool all) {
  fmt::print("{} ({}, {}): {}: {}, {} checks\n", context.request.kernel, context.request.target, context.architecture,
             util::clean(what), report.outcome == Outcome::ok ? "passed" : name(report.outcome),
             report.verdicts.size());
  if (report.outcome != Outcome::ok) fmt::print("  {}\n", util::clean(report.detail));
  for (const auto& [output, error] : report.max_error_over_bound)
    fmt::print("  {}: largest error {:.3f} of what the tolerance allows\n", output, error);
  if (!all) return;
  std::string last;
  for (const Verdict& verdict : report.verdicts)
    if (verdict.label != last) fmt::print("  {} {}\n", name(verdict.outcome), util::clean(last = verdict.label));
}

int verify(const VerifyOptions& options) {
  auto requests = require(build_step::find_requests(options.build.folder, options.kernel, options.build.target));
  nlohmann::ordered_json lines = nlohmann::ordered_json::array();
  bool passed = true;
  const auto check = [&](const build_step::KernelContext& context, const Choice& choice,
                         const store::VariantStore& variants) {
    const std::string what = choice.variant ? choice.variant->reference : "baseline";
    const loop::VerificationReport report =
        verify_choice(context, choice, tuning_options(context.request, variants, find_runtime(options.runtime)).bench);
    passed = passed && report.outcome == Outcome::ok;
    lines.push_back({{"kernel", context.request.kernel},
                     {"target", context.request.target},
                     {"architecture", context.architecture},
                     {"choice", what},
                     {"outcome", name(report.outcome)},
                     {"detail", util::clean(report.detail)},
                     {"checks", report.verdicts.size()},
                     {"max_error_over_bound", report.max_error_over_bound}});
    if (!options.json) print(context, what, report, options.all);
  };
  Turns turns("checked");
  turns.of_choices(requests, check);
  if (options.json) print_json(lines);
  return turns.code(passed ? kDone : kNegative);
}

}  // namespace

void add_verify(CLI::App& app, Action& action) {
  auto options = std::make_shared<VerifyOptions>();
  CLI::App* command = app.add_subcommand("verify", "Check what the build compiles, under a fresh secret seed");
  command->add_option("kernel", options->kernel, "Name of the kernel; all of the build tree if left out");
  add_build_option(*command, options->build);
  command->add_option("--runtime", options->runtime, "libkagent_runner.a");
  command->add_flag("--all", options->all, "List every check");
  command->add_flag("--json", options->json, "Print JSON");
  add_example(*command, "kagent verify softmax --build build");
  command->callback([options, &action] { action = [options] { return verify(*options); }; });
}

}  // namespace kagent::cli
