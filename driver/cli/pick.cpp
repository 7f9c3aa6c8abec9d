// SPDX-License-Identifier: Apache-2.0
#include "build_step/pick.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "build_step/request.h"
#include "cli/command.h"
#include "cli/kernels.h"
#include "loop/interrupt.h"
#include "report/progress.h"
#include "store/trial_store.h"
#include "util/text.h"

namespace kagent::cli {
namespace {

namespace fs = std::filesystem;

struct PickOptions {
  fs::path request, stamp, depfile, runtime;
  bool tune = false;
};

// As other tools read it: set and not empty.
bool in_ci() {
  const char* value = std::getenv("CI");
  return value && *value;
}

// Whether a build tunes an architecture now, and, where somebody might wonder, why not.
struct Wish {
  bool tune = false;
  std::string why_not;
};

Wish wish(const build_step::KernelContext& context, const store::VariantStore& variants) {
  const KernelRequest& request = context.request;
  if (request.tune == TuneMode::pick) return {};
  if (request.tune == TuneMode::missing) {
    if (selection::has_result(require(build_step::selection_inputs(context, variants)))) return {};
    if (in_ci()) return {false, "CI is set in the environment, so MISSING acts as PICK"};
    auto trials = store::TrialStore::open(variants.state_folder() / "trials.sqlite");
    if (!trials) return {false, trials.error().message};
    if (require(trials->conclusion(request.kernel, context.architecture, context.key.hash()))) return {};
  }
  const auto why = obstacle(context);
  if (!why) return {true, {}};
  // A build on another machine is nothing that has to be put right.
  if (const auto machine = machine_obstacle(context); machine && machine->message == why->message)
    return {false, why->message + ", so this build only picks"};
  return {false, fmt::format("{} ({})", why->message, why->fix)};
}

// The architectures to tune. Says in one line why others are not, however many have the same reason.
std::vector<const build_step::KernelContext*> to_tune(const build_step::Pick& pick,
                                                      const store::VariantStore& variants) {
  std::vector<const build_step::KernelContext*> wanted;
  std::vector<std::pair<std::string, std::string>> left_out;  // why, and the architectures
  for (const build_step::KernelContext& context : pick.contexts) {
    const Wish one = wish(context, variants);
    if (one.tune) wanted.push_back(&context);
    if (one.why_not.empty()) continue;
    const auto same = std::ranges::find(left_out, one.why_not, &std::pair<std::string, std::string>::first);
    if (same == left_out.end())
      left_out.emplace_back(one.why_not, context.architecture);
    else
      same->second += ", " + context.architecture;
  }
  for (const auto& [why, architectures] : left_out)
    fmt::print("kagent: {} ({}, {}) is not tuned: {}\n", pick.contexts.front().request.kernel,
               pick.contexts.front().request.target, architectures, util::clean(why));
  return wanted;
}

// Tunes one architecture. What goes wrong here is said and leaves the baseline to the build: only picking may fail it.
void tune(const build_step::KernelContext& context, store::VariantStore& variants, const PickOptions& options) {
  loop::TuningOptions tuning = tuning_options(context.request, variants, find_runtime(options.runtime));
  tuning.again = context.request.tune == TuneMode::always;
  auto progress = report::make_progress(stderr);
  StageError problem;
  try {
    auto result = loop::tune(context, variants, tuning, *progress, loop::interrupted);
    if (result) return;
    problem = result.error();
  } catch (const UserError& error) {
    problem = {error.what(), error.fix()};
  }
  const std::string fix = problem.fix.empty() ? "" : "\n  fix: " + problem.fix;
  progress->on_event(Warning{fmt::format("{} is not tuned now: {}{}", context.request.kernel, problem.message, fix)});
}

int pick(const PickOptions& options) {
  const KernelRequest request = require(build_step::load_request(options.request));
  store::VariantStore variants = open_variants(request);
  build_step::Pick pick = require(build_step::pick(request, variants));
  if (options.tune) {
    loop::catch_interrupts();
    bool tuned = false;
    for (const build_step::KernelContext* context : to_tune(pick, variants))
      if (!loop::interrupted()) tune(*context, variants, options), tuned = true;
    if (loop::interrupted()) return kInterrupted;
    if (tuned) pick = require(build_step::pick(request, variants));
  }
  for (const Choice& choice : pick.choices) {
    fmt::print("kagent: {}\n", util::clean(build_step::describe(request, choice)));
    if (request.require_tuned && !choice.variant) {
      fmt::print(stderr,
                 "kagent: {} requires a tuned variant for {}, and none matches\n"
                 "  fix: tune it on such a machine (kagent optimize {}), or drop REQUIRE_TUNED\n",
                 request.kernel, choice.architecture, request.kernel);
      return kNegative;
    }
  }
  require(build_step::write_sources(pick));
  if (!options.stamp.empty() && !options.depfile.empty())
    require(build_step::write_depfile(pick, variants, options.depfile, options.stamp));
  return kDone;
}

}  // namespace

void add_pick(CLI::App& app, Action& action) {
  auto options = std::make_shared<PickOptions>();
  CLI::App* command = app.add_subcommand("pick", "Choose what a build compiles, and write it (called by the build)");
  command->add_option("--request", options->request, "request.json of one kernel of one target")->required();
  command->add_option("--stamp", options->stamp, "File that is touched when done");
  command->add_option("--depfile", options->depfile, "Make-style list of what was read");
  command->add_option("--runtime", options->runtime, "libkagent_runner.a");
  command->add_flag("--tune", options->tune, "Tune first where the request's mode says so");
  add_example(*command, "kagent pick --request build/kagent/ops/softmax/request.json");
  command->callback([options, &action] { action = [options] { return pick(*options); }; });
}

}  // namespace kagent::cli
