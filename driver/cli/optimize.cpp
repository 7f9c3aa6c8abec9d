// SPDX-License-Identifier: Apache-2.0
#include <iterator>
#include <memory>
#include <optional>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "build_step/kernel_context.h"
#include "build_step/request.h"
#include "cli/command.h"
#include "cli/json_output.h"
#include "cli/kernels.h"
#include "cli/turns.h"
#include "cli/usage.h"
#include "loop/interrupt.h"
#include "loop/replay.h"
#include "report/progress.h"
#include "report/wording.h"
#include "util/sandbox.h"
#include "util/text.h"

namespace kagent::cli {
namespace {

struct OptimizeOptions {
  BuildOption build;
  std::string kernel;
  std::filesystem::path runtime;
  std::optional<int> rounds, width, budget_s;
  std::optional<double> min_gain, goal_speedup;
  std::optional<int> population, generations;
  std::string proposer, tokens, money;
  std::filesystem::path replay;
  bool json = false, dry_run = false;
};

constexpr const char* kProposers[]{"search", "model", "openai", "anthropic", "command", "agent", "replay"};

void apply(const OptimizeOptions& options, loop::TuningOptions& tuning) {
  tuning.again = true;
  if (options.rounds) tuning.rounds = *options.rounds;
  if (options.width) tuning.width = *options.width;
  if (options.budget_s) tuning.time_budget = std::chrono::seconds(*options.budget_s);
  if (options.min_gain) tuning.min_gain = *options.min_gain;
  if (options.population) tuning.population = *options.population;
  if (options.generations) tuning.rounds = *options.generations;
  tuning.goal_speedup = options.goal_speedup;
  if (!options.proposer.empty()) tuning.proposer.name = options.proposer;
  if (!options.replay.empty()) {
    if (options.proposer.empty()) tuning.proposer.name = "replay";
    tuning.proposer.replay = options.replay;
  }
  if (!options.tokens.empty()) tuning.proposer.settings["TOKEN_BUDGET"] = options.tokens;
  if (!options.money.empty()) tuning.proposer.settings["MONEY_BUDGET"] = options.money;
}

nlohmann::ordered_json to_json(const AnswerCounts& counts) {
  return {{"asked", counts.asked},       {"read", counts.read},     {"applied", counts.applied},
          {"compiled", counts.compiled}, {"passed", counts.passed}, {"lost", counts.lost}};
}

nlohmann::ordered_json to_json(const PhaseTimes& times) {
  return {{"preparing_s", times.preparing.count()}, {"compiling_s", times.compiling.count()},
          {"verifying_s", times.verifying.count()}, {"racing_s", times.racing.count()},
          {"judging_s", times.judging.count()},     {"waiting_s", times.waiting.count()}};
}

void demand_breeding(const loop::TuningOptions& tuning) {
  const std::string& proposer = tuning.proposer.name;
  if (tuning.population == 0 || (proposer != "search" && proposer != "agent")) return;
  throw UserError(
      "--population breeds what a proposer of code writes, and '" + proposer + "' writes none in this run",
      proposer == "agent"
          ? "an agent breeds with kagent agent brief --crossover, or --parent diverse; leave --population out"
          : "name one with --proposer (model, openai, anthropic, command), or leave --population out");
}

nlohmann::ordered_json to_json(const KernelRequest& request, const std::string& architecture,
                               const loop::ReplayReport& report) {
  const loop::TuningResult& result = report.result;
  return {{"replayed", true},
          {"kernel", request.kernel},
          {"target", request.target},
          {"architecture", architecture},
          {"recorded", report.beginning.started},
          {"as_recorded", report.departure.empty()},
          {"departure", report.departure},
          {"complete", report.complete},
          {"variant_then", result.variant ? result.variant->reference : ""},
          {"reason", result.reason},
          {"trials", result.trials},
          {"exchanges", report.exchanges},
          {"other_prompts", report.other_prompts},
          {"other_prompt", report.other_prompt},
          {"usage", usage_json(result.usage)}};
}

// Each line says that it is of a replay: nobody shall take it for a measurement.
void print(const std::string& title, const loop::ReplayReport& report) {
  const loop::TuningResult& result = report.result;
  const auto line = [&](const std::string& text) { fmt::print("{}, replayed: {}\n", title, util::clean(text, 2000)); };
  line(fmt::format("the run of {} on {}; nothing was compiled, measured or accepted now", report.beginning.started,
                   report.beginning.device));
  if (report.other_prompts > 0)
    line(fmt::format("{} of {} prompts are not the recorded ones; {}", report.other_prompts, report.exchanges,
                     report.other_prompt));
  if (!report.departure.empty()) return line("decided otherwise than then: " + report.departure);
  if (!report.complete)
    return line(fmt::format("every decision as then, up to where the run was cut short: {} steps", report.steps));
  line(fmt::format("every decision as then: {} trials, {} exchanges", result.trials, report.exchanges));
  line(fmt::format("then {} ({})", result.variant ? "accepted as " + result.variant->reference : "no improvement",
                   result.reason));
}

// The recorded run, decided again; nothing where the folder holds answers alone.
std::optional<int> replay(const OptimizeOptions& options, const std::vector<KernelRequest>& requests) {
  if (options.replay.empty() || options.dry_run || (!options.proposer.empty())) return std::nullopt;
  const auto folder = require(loop::recorded_run(options.replay));
  if (!folder) {
    fmt::print(stderr, "kagent: {} holds answers and no measurements: they are measured anew\n",
               util::clean(options.replay.string()));
    return std::nullopt;
  }
  const loop::CourseBeginning of = require(loop::recorded_beginning(*folder));
  for (const KernelRequest& request : requests) {
    if (request.kernel != of.kernel) continue;
    for (const BuildOutput& output : request.outputs) {
      if (output.is_dispatcher()) continue;
      const build_step::KernelContext context = require(build_step::load_context(request, output));
      if (context.architecture != of.architecture) continue;
      store::VariantStore variants = open_variants(request);
      auto progress = report::make_progress(stderr);
      auto replayed = loop::replay_run(context, variants, *folder, *progress, loop::interrupted);
      if (!replayed && loop::interrupted()) return kInterrupted;
      const loop::ReplayReport report = require(std::move(replayed));
      if (options.json)
        print_json(to_json(request, context.architecture, report));
      else
        print(fmt::format("{} ({}, {})", request.kernel, request.target, context.architecture), report);
      return report.departure.empty() ? kDone : kNegative;
    }
  }
  throw UserError(fmt::format("{} is the record of {} on {}, which this build does not have", folder->string(),
                              util::clean(of.kernel, 100), util::clean(of.architecture, 100)),
                  "name a run of a kernel of this build");
}

// What a run found, for people.
void print(const build_step::KernelContext& context, const loop::TuningResult& result) {
  fmt::print("{} ({}, {}): {} ({})\n", context.request.kernel, context.request.target, context.architecture,
             result.variant ? result.variant->reference : "no improvement, what was there stays", result.reason);
  fmt::print("{}", usage_text(result.usage));
  if (result.answers.asked > 0) fmt::print("  {}\n", report::answers_text(result.answers));
}

nlohmann::ordered_json to_json(const build_step::KernelContext& context, const loop::TuningResult& result) {
  return {{"kernel", context.request.kernel},
          {"target", context.request.target},
          {"architecture", context.architecture},
          {"improved", result.variant.has_value()},
          {"variant", result.variant ? result.variant->reference : ""},
          {"reason", result.reason},
          {"trials", result.trials},
          {"usage", usage_json(result.usage)},
          {"answers", to_json(result.answers)},
          {"times", to_json(result.times)}};
}

int optimize(const OptimizeOptions& options) {
  auto requests = require(build_step::find_requests(options.build.folder, options.kernel, options.build.target));
  loop::catch_interrupts();
  if (const auto code = replay(options, requests)) return *code;
  nlohmann::ordered_json lines = nlohmann::ordered_json::array();
  const auto runtime = find_runtime(options.runtime);
  Turns turns("tuned");
  const auto optimize_all_of = [&](KernelRequest& request) {
    store::VariantStore variants = open_variants(request);
    loop::TuningOptions tuning = tuning_options(request, variants, runtime);
    apply(options, tuning);
    demand_breeding(tuning);
    request.proposer = tuning.proposer.name;
    const auto optimize_one = [&](const build_step::KernelContext& context) {
      if (const auto why = obstacle(context)) return turns.leave_out(context, *why);
      auto progress = report::make_progress(stderr);
      if (options.dry_run) {
        fmt::print("{} ({}, {}) would send:\n{}\n", request.kernel, request.target, context.architecture,
                   require(loop::preview_request(context, variants, tuning, *progress, loop::interrupted)));
        return;
      }
      const loop::TuningResult result = require(loop::tune(context, variants, tuning, *progress, loop::interrupted));
      lines.push_back(to_json(context, result));
      if (!options.json) print(context, result);
    };
    for (const BuildOutput& output : request.outputs) {
      if (output.is_dispatcher() || loop::interrupted()) continue;
      turns.take([&] { optimize_one(require(build_step::load_context(request, output))); });
    }
  };
  for (KernelRequest& request : requests) {
    turns.attempt([&] { optimize_all_of(request); });
    if (loop::interrupted()) break;
  }
  if (options.json && !options.dry_run) print_json(lines);
  return loop::interrupted() ? kInterrupted : turns.code(kDone);
}

}  // namespace

void add_optimize(CLI::App& app, Action& action) {
  auto options = std::make_shared<OptimizeOptions>();
  CLI::App* command = app.add_subcommand("optimize", "Look for faster versions of a kernel, and keep what is proven");
  command->add_option("kernel", options->kernel, "Name of the kernel; all of the build tree if left out");
  add_build_option(*command, options->build);
  CLI::Option* rounds =
      command->add_option("--rounds", options->rounds, "Rounds of this run")->check(CLI::Range(1, 10'000));
  command->add_option("--width", options->width, "Candidates a round")->check(CLI::Range(1, 1'000));
  command->add_option("--time-budget", options->budget_s, "Seconds")->check(CLI::Range(1, 1'000'000));
  command->add_option("--min-gain", options->min_gain, "Share of time that counts as faster")
      ->check(CLI::Range(0.0, 0.9));
  command->add_option("--proposer", options->proposer, "Who proposes beside the search")
      ->check(CLI::IsMember(std::vector<std::string>(std::begin(kProposers), std::end(kProposers))));
  command
      ->add_option("--replay", options->replay,
                   "Decide the run that is recorded in this folder again, without measuring, model or network; with\n"
                   "--proposer replay, answer from its exchanges alone and measure anew")
      ->check(CLI::ExistingDirectory);
  CLI::Option* population = command
                                ->add_option("--population", options->population,
                                             "Breed each round of what writes code from so many matings of what passed")
                                ->check(CLI::Range(1, 1'000));
  command->add_option("--generations", options->generations, "Rounds, of a population")
      ->check(CLI::Range(1, 10'000))
      ->needs(population)
      ->excludes(rounds);
  command->add_option("--goal-speedup", options->goal_speedup, "Over the baseline: enough")
      ->check(CLI::Range(1.0, 1e6));
  command->add_option("--token-budget", options->tokens, "Tokens that models may read and write together");
  command->add_option("--money-budget", options->money, "What models may cost, in the currency of their prices");
  command->add_flag("--dry-run", options->dry_run, "Print what would leave this machine, and send nothing");
  command->add_option("--runtime", options->runtime, "libkagent_runner.a");
  command->add_flag("--json", options->json, "Print JSON");
  add_example(*command, "kagent optimize softmax --build build --time-budget 120");
  command->callback([options, &action] { action = [options] { return optimize(*options); }; });
}

}  // namespace kagent::cli
