// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "build_step/pick.h"
#include "build_step/request.h"
#include "cli/command.h"
#include "cli/kernels.h"
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

int bench(const BenchOptions& options) {
  auto requests = require(build_step::find_requests(options.build.folder, options.kernel, options.build.target));
  loop::catch_interrupts();
  nlohmann::ordered_json lines = nlohmann::ordered_json::array();
  for (const KernelRequest& request : requests) {
    store::VariantStore variants = open_variants(request);
    const build_step::Pick pick = require(build_step::pick(request, variants));
    for (std::size_t i = 0; i < pick.contexts.size(); ++i) {
      const build_step::KernelContext& context = pick.contexts[i];
      auto progress = report::make_progress(stderr);
      auto workbench = require(loop::Workbench::open(
          context, tuning_options(request, variants, find_runtime(options.runtime)).bench, *progress));
      // Without a variant the baseline runs against itself: what is seen then is the noise of this machine.
      Binary candidate = workbench->built_baseline();
      std::string what = "baseline against itself";
      if (const auto& variant = pick.choices[i].variant) {
        const CompileResult compiled = require(workbench->compile_as_built(loop::as_candidate(*variant)));
        if (compiled.outcome != Outcome::ok)
          throw UserError(variant->reference + " does not compile here: " + compiled.diagnostics,
                          "roll it back (kagent rollback) or tune again");
        candidate = compiled.binary;
        what = variant->reference;
      }
      loop::MeasurementOptions measuring = workbench->measuring();
      measuring.policy.min_gain = request.min_gain;
      measuring.interrupted = loop::interrupted;
      measuring.progress = [&](int pair, int pairs) {
        progress->on_event(MeasuringFinalist{"the baseline", pair, pairs});
      };
      const loop::Measured measured = require(loop::measure(workbench->runner(), workbench->built_spec(),
                                                            workbench->built_baseline(), candidate, measuring));
      progress.reset();
      if (measured.interrupted) return kInterrupted;
      if (measured.outcome != Outcome::ok)
        throw UserError(fmt::format("{}: {}: {}", what, name(measured.outcome), measured.detail),
                        "kagent verify " + request.kernel + " says more");
      if (options.json)
        lines.push_back({{"kernel", request.kernel},
                         {"target", request.target},
                         {"architecture", context.architecture},
                         {"choice", what},
                         {"against_baseline", nlohmann::ordered_json::parse(store::to_json(measured.decision))}});
      else
        fmt::print("{} ({}, {}): {}\n{}", request.kernel, request.target, context.architecture, util::clean(what),
                   report::decision_table(measured.decision, "baseline", "built"));
    }
  }
  if (options.json) fmt::print("{}\n", lines.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
  return kDone;
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
