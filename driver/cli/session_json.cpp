// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "cli/json_output.h"
#include "cli/session.h"
#include "cli/usage.h"
#include "proposer/answer.h"
#include "util/text.h"

namespace kagent::cli {
namespace {

using nlohmann::ordered_json;

template <class T>
ordered_json optional(const std::optional<T>& value) {
  return value ? ordered_json(*value) : ordered_json();
}

ordered_json to_json(const std::vector<CaseTimes>& cases) {
  auto list = ordered_json::array();
  for (const CaseTimes& one : cases)
    list.push_back({{"case", one.case_name},
                    {"weight", one.weight},
                    {"baseline_ns", one.baseline_ns},
                    {"candidate_ns", one.candidate_ns},
                    {"ratio", one.baseline_ns > 0 ? one.candidate_ns / one.baseline_ns : 0}});
  return list;
}

ordered_json to_json(const Trial& trial) {
  const Candidate& candidate = trial.candidate;
  return {{"candidate", trial.candidate_hash},
          {"parent", candidate.parent},
          {"outcome", std::string(name(trial.outcome))},
          {"detail", util::clean(trial.detail, 1000)},
          {"ratio", optional(trial.score)},
          {"cases", to_json(trial.cases)},
          {"tunables", candidate.tunables},
          {"change", util::clean(candidate.change, 2000)},
          {"hypothesis", util::clean(candidate.hypothesis, 2000)},
          {"expected_speedup", optional(candidate.expected_speedup)},
          {"reflection", util::clean(trial.reflection, 1000)},
          {"proposer", candidate.proposer},
          {"model", util::clean(candidate.model, 200)}};
}

ordered_json session_of(const loop::AgentSession& session) {
  if (!session.record()) return nullptr;
  const loop::SessionRecord& record = *session.record();
  const auto reason = session.reason_to_stop();
  ordered_json reported{{"submissions", record.reports}};
  reported.update(tokens_json(record.reported));
  return {{"number", record.number},
          {"kernel", record.kernel},
          {"architecture", record.architecture},
          {"started", record.started},
          {"rounds_done", record.rounds_done},
          {"rounds", record.limits.rounds},
          {"used_s", record.used_s},
          {"time_budget_s", record.limits.time_budget_s},
          {"reported_by_agent", std::move(reported)},
          {"token_budget", optional(record.limits.tokens)},
          {"money_budget", optional(record.limits.money)},
          {"trials", record.trials},
          {"parent", record.parent},
          {"accepted", record.accepted},
          {"ended", reason ? ordered_json(*reason) : ordered_json()}};
}

}  // namespace

std::string brief_json(const loop::AgentSession& session, const proposer::Prompt& prompt) {
  const Brief brief = session.facts();
  auto bottlenecks = ordered_json::array();
  for (const Bottleneck& one : brief.bottlenecks) {
    auto metrics = ordered_json::object();
    for (const Metric& metric : one.metrics) metrics[util::clean(metric.name, 200)] = metric.value;
    auto lines = ordered_json::array(), kernels = ordered_json::array(), patterns = ordered_json::array();
    for (const std::string& kernel : one.kernels) kernels.push_back(util::clean(kernel, 300));
    for (const std::string& line : one.lines) lines.push_back(util::clean(line, 300));
    for (const Pattern& pattern : one.patterns)
      patterns.push_back({{"name", pattern.name},
                          {"severity", pattern.severity},
                          {"evidence", util::clean(pattern.evidence, 500)},
                          {"advice", util::clean(pattern.advice, 500)}});
    bottlenecks.push_back({{"case", one.case_name},
                           {"tier", one.tier},
                           {"tier_reason", util::clean(one.tier_reason, 500)},
                           {"time_ns", one.time_ns},
                           {"limited_by", one.limited_by},
                           {"resource", one.resource},
                           {"time", one.time},
                           {"space", one.space},
                           {"roofline_share", optional(one.roofline_share)},
                           {"metrics", std::move(metrics)},
                           {"kernels", std::move(kernels)},
                           {"code", util::clean(one.code, 1000)},
                           {"code_reason", util::clean(one.code_reason, 500)},
                           {"lines", std::move(lines)},
                           {"patterns", std::move(patterns)}});
  }
  auto cases = ordered_json::array();
  for (const CaseBest& one : brief.cases)
    cases.push_back(
        {{"case", one.case_name}, {"weight", one.weight}, {"baseline_ns", one.baseline_ns}, {"best_ns", one.best_ns}});
  return json_text({{"session", session_of(session)},
                    {"device", brief.device},
                    {"parent", brief.parent.hash},
                    {"parent_source", util::clean(brief.parent.candidate.source, brief.parent.candidate.source.size())},
                    {"cases", std::move(cases)},
                    {"bottlenecks", std::move(bottlenecks)},
                    {"system", prompt.system},
                    {"prompt", prompt.text()},
                    {"answer_schema", ordered_json::parse(proposer::answer_schema(), nullptr, false)}});
}

std::string report_json(const loop::AgentSession& session, const loop::SubmitReport& report) {
  auto results = ordered_json::array();
  for (const loop::SubmissionResult& result : report.results)
    results.push_back({{"name", util::clean(result.name, 300)},
                       {"problem", util::clean(result.problem, 4000)},
                       {"trial", result.trial ? to_json(*result.trial) : ordered_json()},
                       {"diagnostics", util::clean(result.diagnostics, 8000)},
                       {"tuned_trials", result.tuned_trials},
                       {"tuned", result.tuned ? to_json(*result.tuned) : ordered_json()}});
  auto accepted = ordered_json::array();
  for (const Variant& variant : report.accepted)
    accepted.push_back({{"reference", variant.reference},
                        {"over_incumbent", 1 / variant.evidence.against_incumbent.ratio},
                        {"over_baseline", 1 / variant.evidence.against_baseline.ratio}});
  return json_text(
      {{"results", std::move(results)}, {"accepted", std::move(accepted)}, {"session", session_of(session)}});
}

std::string status_json(const loop::AgentSession& session) {
  const loop::SessionStatus status = session.status();
  auto trials = ordered_json::array();
  for (const Trial& trial : status.history) trials.push_back(to_json(trial));
  return json_text({{"session", session_of(session)},
                    {"built", status.incumbent.value_or("baseline")},
                    {"trials", std::move(trials)}});
}

}  // namespace kagent::cli
