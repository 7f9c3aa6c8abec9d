// SPDX-License-Identifier: Apache-2.0
#include "cli/session.h"

#include <algorithm>

#include <fmt/format.h>

#include "build_step/request.h"
#include "cli/kernels.h"
#include "cli/variants.h"
#include "loop/interrupt.h"
#include "report/progress.h"
#include "report/wording.h"
#include "util/text.h"

namespace kagent::cli {
namespace {

constexpr std::size_t kMostDiagnostics = 4'000;
constexpr std::size_t kMostTrials = 20;

std::string short_hash(const std::string& hash) {
  return hash.substr(0, 12);
}

std::string tunables_text(const TunableValues& tunables) {
  std::string text;
  for (const auto& [name, value] : tunables) text += fmt::format(" {}={}", util::clean(name, 100), value);
  return text;
}

// `told` is what is printed below it: a detail that begins it is not said twice.
std::string trial_text(const Trial& trial, const std::string& told = {}) {
  std::string text = fmt::format("{} {}", short_hash(trial.candidate_hash), name(trial.outcome));
  if (trial.score) text += fmt::format(", {:.3f}x over the baseline in racing", 1 / *trial.score);
  text += tunables_text(trial.candidate.tunables) + "\n";
  if (!trial.detail.empty() && !told.starts_with(trial.detail)) text += "    " + util::clean(trial.detail, 500) + "\n";
  if (!trial.reflection.empty()) text += "    " + util::clean(trial.reflection, 500) + "\n";
  for (const CaseTimes& one : trial.cases) {
    const auto times = report::times_text({one.baseline_ns, one.candidate_ns});
    text += fmt::format("    {}: {} -> {}, {}\n", util::clean(one.case_name, 100), times[0], times[1],
                        report::speedup_text(one.candidate_ns / one.baseline_ns));
  }
  return text;
}

std::string indented(const std::string& text) {
  std::string result = "    ";
  for (const char c : util::clean(text, kMostDiagnostics)) {
    result += c;
    if (c == '\n') result += "    ";
  }
  while (!result.empty() && (result.back() == ' ' || result.back() == '\n')) result.pop_back();
  return result.empty() ? "" : result + "\n";
}

// What the agent says that it used: kagent cannot see it.
std::string usage_text(const loop::SessionRecord& record) {
  const Usage& used = record.reported;
  const auto of = [](const std::string& budget) { return budget.empty() ? "" : " of " + budget; };
  const std::string tokens = record.limits.tokens ? fmt::format("{}", *record.limits.tokens) : "";
  const std::string money = record.limits.money ? fmt::format("{:g}", *record.limits.money) : "";
  if (record.reports == 0)
    return tokens.empty() && money.empty()
               ? ""
               : "  tokens    none reported by the agent: a budget of tokens or money counts what it reports\n";
  return fmt::format(
      "  tokens    {}{} ({} read, {} of them cached, {} written) and {:.4g}{} in cost, reported by the "
      "agent with {} submissions\n",
      used.input_tokens + used.output_tokens, of(tokens), used.input_tokens, used.cached_tokens, used.output_tokens,
      used.cost, of(money), record.reports);
}

std::string stop_text(const loop::AgentSession& session, const std::string& kernel) {
  const auto reason = session.reason_to_stop();
  if (!reason) return {};
  return fmt::format("the session ends by itself: {}\n  next: kagent agent finish {}\n", *reason, kernel);
}

}  // namespace

void add_session_options(CLI::App& command, SessionOptions& options) {
  command.add_option("kernel", options.kernel, "Name of the kernel")->required();
  add_build_option(command, options.build);
  command.add_option("--architecture", options.architecture, "If the build has the kernel for several");
  command.add_option("--runtime", options.runtime, "libkagent_runner.a");
}

void add_limit_options(CLI::App& command, SessionOptions& options) {
  command.add_option("--rounds", options.rounds, "Submissions until the session ends by itself")
      ->check(CLI::Range(1, 10'000));
  command.add_option("--time-budget", options.budget_s, "Seconds of kagent's own work")
      ->check(CLI::Range(1, 1'000'000));
  command.add_option("--min-gain", options.min_gain, "Share of time that counts as faster")
      ->check(CLI::Range(0.0, 0.9));
  command.add_option("--goal-speedup", options.goal_speedup, "Over the baseline: enough")->check(CLI::Range(1.0, 1e6));
  command.add_option("--token-budget", options.tokens, "Tokens, of those that the agent reports")
      ->check(CLI::Range(std::int64_t{1}, kMostTokens));
  command.add_option("--money-budget", options.money, "Cost, of that which the agent reports")
      ->check(CLI::Range(0.0, kMostCost));
}

OpenedSession open_session(const SessionOptions& options, std::function<bool()> interrupted) {
  const auto requests = require(build_step::find_requests(options.build.folder, options.kernel, options.build.target));
  if (requests.size() > 1)
    throw UserError("several targets of this build have " + options.kernel, "name one with --target");
  const KernelRequest& request = requests.front();
  OpenedSession opened;
  std::vector<std::string> names;
  for (const BuildOutput& output : request.outputs) {
    if (output.is_dispatcher()) continue;
    auto context = require(build_step::load_context(request, output));
    names.push_back(context.architecture);
    if (options.architecture.empty() || options.architecture == context.architecture)
      opened.context = std::make_unique<build_step::KernelContext>(std::move(context));
  }
  std::string known;
  for (const std::string& name : names) known += (known.empty() ? "" : ", ") + name;
  if (!opened.context)
    throw UserError("this build has no " + options.kernel + " for '" + options.architecture + "'", "one of: " + known);
  if (options.architecture.empty() && names.size() > 1)
    throw UserError("this build has " + options.kernel + " for several architectures",
                    "name one with --architecture: " + known);
  loop::catch_interrupts();
  opened.variants = std::make_unique<store::VariantStore>(open_variants(request));
  opened.tuning =
      std::make_unique<loop::TuningOptions>(tuning_options(request, *opened.variants, find_runtime(options.runtime)));
  opened.progress = report::make_progress(stderr);
  opened.limits = {.rounds = options.rounds.value_or(request.rounds),
                   .time_budget_s = options.budget_s.value_or(static_cast<int>(request.time_budget.count())),
                   .min_gain = options.min_gain.value_or(request.min_gain),
                   .goal_speedup = options.goal_speedup,
                   .tokens = options.tokens,
                   .money = options.money};
  opened.interrupted = std::make_unique<std::function<bool()>>(std::move(interrupted));
  opened.session = std::make_unique<loop::AgentSession>(*opened.context, *opened.variants, *opened.tuning,
                                                        *opened.progress, *opened.interrupted);
  return opened;
}

std::string report_text(const loop::AgentSession& session, const loop::SubmitReport& report) {
  std::string text;
  for (const loop::SubmissionResult& result : report.results) {
    text += util::clean(result.name, 300) + ": ";
    if (!result.problem.empty()) {
      text += "not tried\n" + indented(result.problem);
      continue;
    }
    text += trial_text(*result.trial, result.diagnostics) + indented(result.diagnostics);
    if (result.tuned_trials > 0) text += fmt::format("  tunables: {} more values tried\n", result.tuned_trials);
    if (result.tuned) text += "  best values: " + trial_text(*result.tuned);
  }
  for (const Variant& variant : report.accepted)
    text += fmt::format("accepted as {}: {} over the incumbent, {} over the baseline\n", util::clean(variant.reference),
                        speedup(variant.evidence.against_incumbent.ratio),
                        speedup(variant.evidence.against_baseline.ratio));
  if (report.accepted.empty()) text += "nothing was accepted in this round\n";
  if (session.record()) text += stop_text(session, session.record()->kernel);
  return text;
}

std::string status_text(const loop::AgentSession& session) {
  const loop::SessionStatus status = session.status();
  std::string text;
  if (session.record()) {
    const loop::SessionRecord& record = status.record;
    text += fmt::format("session {} of {} ({}), opened {}\n", record.number, record.kernel, record.architecture,
                        record.started);
    text += fmt::format("  rounds    {} of {}\n", record.rounds_done, record.limits.rounds);
    text += fmt::format("  time      {:.0f} s of {} s\n", record.used_s, record.limits.time_budget_s);
    text += usage_text(record);
    text += fmt::format("  trials    {}\n", record.trials);
    for (const std::string& branch : record.accepted) text += "  accepted  " + util::clean(branch) + "\n";
    if (!record.parent.empty()) text += "  parent    " + short_hash(record.parent) + "\n";
    text += stop_text(session, record.kernel);
  } else {
    text += "no session is open\n";
  }
  text += "  built is  " + util::clean(status.incumbent.value_or("the baseline")) + "\n";
  const std::size_t skipped = status.history.size() > kMostTrials ? status.history.size() - kMostTrials : 0;
  if (skipped > 0) text += fmt::format("  ({} earlier trials)\n", skipped);
  for (std::size_t i = skipped; i < status.history.size(); ++i) text += "  " + trial_text(status.history[i]);
  return text;
}

std::string bottleneck_text(const Brief& brief) {
  std::string text;
  for (const Bottleneck& one : brief.bottlenecks) {
    text += fmt::format("{}: {}{}, by {}{}\n", util::clean(one.case_name, 100), report::times_text({one.time_ns})[0],
                        one.limited_by.empty() ? "" : ", limited by " + one.limited_by, one.tier,
                        one.tier_reason.empty() ? "" : " (" + one.tier_reason + ")");
    if (one.roofline_share) text += fmt::format("  {:.0f} % of the roofline\n", *one.roofline_share * 100);
    for (const Metric& metric : one.metrics)
      text += fmt::format("  {} {:.6g} {}\n", util::clean(metric.name, 100), metric.value, metric.unit);
    for (const std::string& kernel : one.kernels) text += "  on the device: " + util::clean(kernel, 300) + "\n";
    if (!one.code.empty()) text += "  machine code: " + util::clean(one.code, 1000) + "\n";
    if (!one.code_reason.empty()) text += "  machine code: " + util::clean(one.code_reason, 500) + "\n";
    for (const std::string& line : one.lines) text += "  " + util::clean(line, 300) + "\n";
    for (const Pattern& pattern : one.patterns)
      text += fmt::format("  {}: {}; {}\n", util::clean(pattern.name, 100), util::clean(pattern.evidence, 500),
                          util::clean(pattern.advice, 500));
  }
  return text.empty() ? "nothing is measured yet\n" : text;
}

}  // namespace kagent::cli
