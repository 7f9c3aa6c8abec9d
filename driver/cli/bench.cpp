// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <optional>
#include <utility>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "build_step/pick.h"
#include "build_step/request.h"
#include "cli/command.h"
#include "cli/json_output.h"
#include "cli/kernels.h"
#include "cli/turns.h"
#include "loop/interrupt.h"
#include "loop/measurement.h"
#include "loop/workbench.h"
#include "report/decision_table.h"
#include "report/progress.h"
#include "store/evidence_json.h"
#include "util/text.h"

namespace kagent::cli {
namespace {

struct BenchOptions {
  BuildOption build;
  std::string kernel;
  std::filesystem::path runtime;
  bool json = false;
};

struct Found {
  std::string what;  // was measured against the baseline
  Decision decision;
};

// Nothing if a person interrupted.
std::optional<Found> measure_choice(const build_step::KernelContext& context, const Choice& choice,
                                    const loop::WorkbenchOptions& options) {
  auto progress = report::make_progress(stderr);
  auto workbench = require(loop::Workbench::open(context, options, *progress));
  // Without a variant the baseline runs against itself: what is seen then is the noise of this machine.
  Binary candidate = workbench->built_baseline();
  std::string what = "baseline against itself";
  if (const auto& variant = choice.variant) {
    const CompileResult compiled = require(workbench->compile_as_built(loop::as_candidate(*variant)));
    if (compiled.outcome != Outcome::ok)
      throw UserError(variant->reference + " does not compile here: " + compiled.diagnostics,
                      "roll it back (kagent rollback) or tune again");
    candidate = compiled.binary;
    what = variant->reference;
  }
  loop::MeasurementOptions measuring = workbench->measuring();
  measuring.policy.min_gain = context.request.min_gain;
  measuring.interrupted = loop::interrupted;
  measuring.progress = [&](int pair, int pairs) { progress->on_event(MeasuringFinalist{"the baseline", pair, pairs}); };
  loop::Measured measured = require(
      loop::measure(workbench->runner(), workbench->built_spec(), workbench->built_baseline(), candidate, measuring));
  if (measured.interrupted) return std::nullopt;
  if (measured.outcome != Outcome::ok)
    throw UserError(fmt::format("{}: {}: {}", what, name(measured.outcome), measured.detail),
                    "kagent verify " + context.request.kernel + " says more");
  return Found{std::move(what), std::move(measured.decision)};
}

int bench(const BenchOptions& options) {
  auto requests = require(build_step::find_requests(options.build.folder, options.kernel, options.build.target));
  loop::catch_interrupts();
  nlohmann::ordered_json lines = nlohmann::ordered_json::array();
  const auto bench_one = [&](const build_step::KernelContext& context, const Choice& choice,
                             const store::VariantStore& variants) {
    const KernelRequest& request = context.request;
    const auto found =
        measure_choice(context, choice, tuning_options(request, variants, find_runtime(options.runtime)).bench);
    if (!found) return;
    if (options.json)
      lines.push_back({{"kernel", request.kernel},
                       {"target", request.target},
                       {"architecture", context.architecture},
                       {"choice", found->what},
                       {"against_baseline", nlohmann::ordered_json::parse(store::to_json(found->decision))}});
    else
      fmt::print("{} ({}, {}): {}\n{}", request.kernel, request.target, context.architecture, util::clean(found->what),
                 report::decision_table(found->decision, "baseline", "built"));
  };
  Turns turns("measured");
  turns.of_choices(requests, bench_one);
  if (options.json) print_json(lines);
  return loop::interrupted() ? kInterrupted : turns.code(kDone);
}

}  // namespace

void add_bench(CLI::App& app, Action& action) {
  auto options = std::make_shared<BenchOptions>();
  CLI::App* command = app.add_subcommand("bench", "Measure what the build compiles against the baseline");
  command->add_option("kernel", options->kernel, "Name of the kernel; all of the build tree if left out");
  add_build_option(*command, options->build);
  command->add_option("--runtime", options->runtime, "libkagent_runner.a");
  command->add_flag("--json", options->json, "Print JSON");
  add_example(*command, "kagent bench softmax --build build");
  command->callback([options, &action] { action = [options] { return bench(*options); }; });
}

}  // namespace kagent::cli
