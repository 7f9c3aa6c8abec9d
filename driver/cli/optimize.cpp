// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <optional>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "build_step/kernel_context.h"
#include "build_step/request.h"
#include "cli/command.h"
#include "cli/kernels.h"
#include "loop/interrupt.h"
#include "report/progress.h"
#include "util/sandbox.h"

namespace kagent::cli {
namespace {

struct OptimizeOptions {
  BuildOption build;
  std::string kernel;
  std::filesystem::path runtime;
  std::optional<int> rounds, width, budget_s;
  std::optional<double> min_gain;
  bool json = false;
};

int optimize(const OptimizeOptions& options) {
  auto requests = require(build_step::find_requests(options.build.folder, options.kernel, options.build.target));
  loop::catch_interrupts();
  nlohmann::ordered_json lines = nlohmann::ordered_json::array();
  for (const KernelRequest& request : requests) {
    store::VariantStore variants = open_variants(request);
    loop::TuningOptions tuning = tuning_options(request, variants, find_runtime(options.runtime));
    tuning.again = true;
    if (options.rounds) tuning.rounds = *options.rounds;
    if (options.width) tuning.width = *options.width;
    if (options.budget_s) tuning.time_budget = std::chrono::seconds(*options.budget_s);
    if (options.min_gain) tuning.min_gain = *options.min_gain;
    for (const BuildOutput& output : request.outputs) {
      if (output.is_dispatcher()) continue;
      const build_step::KernelContext context = require(build_step::load_context(request, output));
      if (std::string why = obstacle(context); !why.empty())
        throw UserError(request.kernel + " cannot be tuned: " + why);
      auto progress = report::make_progress(stderr);
      loop::TuningResult result = require(loop::tune(context, variants, tuning, *progress, loop::interrupted));
      lines.push_back({{"kernel", request.kernel},
                       {"target", request.target},
                       {"architecture", context.architecture},
                       {"improved", result.variant.has_value()},
                       {"variant", result.variant ? result.variant->reference : ""},
                       {"reason", result.reason},
                       {"trials", result.trials}});
      if (!options.json)
        fmt::print("{} ({}, {}): {} ({})\n", request.kernel, request.target, context.architecture,
                   result.variant ? result.variant->reference : "no improvement, what was there stays", result.reason);
      if (result.interrupted) return kInterrupted;
    }
  }
  if (options.json) fmt::print("{}\n", lines.dump(2));
  return kDone;
}

}  // namespace

void add_optimize(CLI::App& app, Action& action) {
  auto options = std::make_shared<OptimizeOptions>();
  CLI::App* command = app.add_subcommand("optimize", "Look for faster versions of a kernel, and keep what is proven");
  command->add_option("kernel", options->kernel, "Name of the kernel; all of the build tree if left out");
  add_build_option(*command, options->build);
  command->add_option("--rounds", options->rounds, "Rounds of this run")->check(CLI::Range(1, 10'000));
  command->add_option("--width", options->width, "Candidates a round")->check(CLI::Range(1, 1'000));
  command->add_option("--time-budget", options->budget_s, "Seconds")->check(CLI::Range(1, 1'000'000));
  command->add_option("--min-gain", options->min_gain, "Share of time that counts as faster")
      ->check(CLI::Range(0.0, 0.9));
  command->add_option("--runtime", options->runtime, "libkagent_runner.a");
  command->add_flag("--json", options->json, "Print JSON");
  add_example(*command, "kagent optimize softmax --build build --time-budget 120");
  command->callback([options, &action] { action = [options] { return optimize(*options); }; });
}

}  // namespace kagent::cli
