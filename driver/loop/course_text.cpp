// SPDX-License-Identifier: Apache-2.0
#include "loop/course_text.h"

#include <array>
#include <limits>

#include <nlohmann/json.hpp>

#include "store/candidate_json.h"
#include "store/evidence_json.h"
#include "util/shallow_json.h"
#include "util/text.h"

namespace kagent::loop {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kFormat = 2;

std::string line_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

template <class T>
Json optional(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

// What is no number was written as null.
double number(const Json& json) {
  return json.is_null() ? std::numeric_limits<double>::quiet_NaN() : json.get<double>();
}

template <class T>
std::optional<T> read_optional(const Json& json) {
  return json.is_null() ? std::nullopt : std::optional(json.get<T>());
}

// Reads a line of one kind with a function that may meet anything in it.
template <class Read>
auto reading(const std::string& line, const char* kind, Read read) {
  try {
    const Json root = util::parse_shallow(line);
    if (root.at("step") != kind) throw UserError(std::string("a step of another kind than '") + kind + "'");
    return read(root);
  } catch (const Json::exception& broken) {
    throw UserError("the record of the run is damaged: " + util::clean(broken.what(), 300),
                    "replay the folder of a recorded run, as it was written");
  }
}

Json case_times(const std::vector<CaseTimes>& times) {
  const std::string text = store::case_times_json(times);
  return text.empty() ? Json::array() : Json::parse(text);
}

std::vector<CaseTimes> read_case_times(const Json& json) {
  std::vector<CaseTimes> times;
  require(store::read_case_times(json.dump(), times));
  return times;
}

Json json_of(const Bottleneck& one) {
  Json metrics = Json::array(), patterns = Json::array();
  for (const Metric& metric : one.metrics)
    metrics.push_back({{"name", metric.name}, {"value", metric.value}, {"unit", metric.unit}});
  for (const Pattern& pattern : one.patterns)
    patterns.push_back({{"name", pattern.name},
                        {"severity", pattern.severity},
                        {"evidence", pattern.evidence},
                        {"advice", pattern.advice},
                        {"source", pattern.source}});
  return {{"case", one.case_name},
          {"tier", one.tier},
          {"tier_reason", one.tier_reason},
          {"time_ns", one.time_ns},
          {"limited_by", one.limited_by},
          {"resource", one.resource},
          {"time", one.time},
          {"space", one.space},
          {"roofline_share", optional(one.roofline_share)},
          {"kernels", one.kernels},
          {"code", one.code},
          {"code_reason", one.code_reason},
          {"lines", one.lines},
          {"metrics", std::move(metrics)},
          {"patterns", std::move(patterns)}};
}

Bottleneck bottleneck_of(const Json& json) {
  const auto text = [](const Json& from, const char* key) { return from.at(key).get<std::string>(); };
  Bottleneck one;
  one.case_name = text(json, "case");
  one.tier = text(json, "tier");
  one.tier_reason = text(json, "tier_reason");
  one.time_ns = number(json.at("time_ns"));
  one.limited_by = text(json, "limited_by");
  one.resource = text(json, "resource");
  one.time = text(json, "time");
  one.space = text(json, "space");
  one.roofline_share = read_optional<double>(json.at("roofline_share"));
  if (json.contains("kernels")) one.kernels = json.at("kernels").get<std::vector<std::string>>();
  one.code = text(json, "code");
  one.code_reason = text(json, "code_reason");
  one.lines = json.at("lines").get<std::vector<std::string>>();
  for (const Json& metric : json.at("metrics"))
    one.metrics.push_back({text(metric, "name"), number(metric.at("value")), text(metric, "unit")});
  for (const Json& pattern : json.at("patterns"))
    one.patterns.push_back({text(pattern, "name"), number(pattern.at("severity")), text(pattern, "evidence"),
                            text(pattern, "advice"), text(pattern, "source")});
  return one;
}

Outcome outcome_of(const Json& json) {
  const auto outcome = parse_outcome(json.get<std::string>());
  if (!outcome) throw UserError("the record of the run names an outcome that is not known", "use the kagent it is of");
  return *outcome;
}

Json json_of(const Evaluated& one) {
  const Trial& trial = one.trial;
  return {{"candidate", trial.candidate_hash},  {"object", trial.object_hash},
          {"outcome", name(trial.outcome)},     {"detail", trial.detail},
          {"diagnostics", one.diagnostics},     {"score", optional(trial.score)},
          {"cases", case_times(trial.cases)},   {"error_over_bound", optional(trial.error_over_bound)},
          {"compile_s", trial.compile_s},       {"verify_s", trial.verify_s},
          {"measure_s", trial.measure_s},       {"started", trial.started},
          {"compiled", one.binary.has_value()}, {"errors", one.max_error_over_bound}};
}

Evaluated evaluated_of(const Json& json) {
  Evaluated one;
  Trial& trial = one.trial;
  trial.candidate_hash = json.at("candidate").get<std::string>();
  trial.object_hash = json.at("object").get<std::string>();
  trial.outcome = outcome_of(json.at("outcome"));
  trial.detail = json.at("detail").get<std::string>();
  one.diagnostics = json.at("diagnostics").get<std::string>();
  trial.score = read_optional<double>(json.at("score"));
  trial.cases = read_case_times(json.at("cases"));
  trial.error_over_bound = read_optional<double>(json.at("error_over_bound"));
  trial.compile_s = json.at("compile_s").get<double>();
  trial.verify_s = json.at("verify_s").get<double>();
  trial.measure_s = json.at("measure_s").get<double>();
  trial.started = json.at("started").get<std::string>();
  if (json.at("compiled").get<bool>()) one.binary.emplace();
  for (const auto& [output, error] : json.at("errors").items()) one.max_error_over_bound[output] = number(error);
  return one;
}

Json json_of(const Measured& one) {
  const MeasuredSamples& samples = one.samples;
  Json cases = Json::array(), pairs = Json::array();
  for (const judge::TimedCase& timed : samples.cases) cases.push_back({{"name", timed.name}, {"weight", timed.weight}});
  for (const auto& pair : samples.pairs) {
    Json of_cases = Json::array();
    for (const judge::PairSamples& times : pair)
      of_cases.push_back({{"incumbent_ns", times.incumbent_ns}, {"candidate_ns", times.candidate_ns}});
    pairs.push_back(std::move(of_cases));
  }
  return {{"outcome", name(one.outcome)},
          {"detail", one.detail},
          {"decision", Json::parse(store::to_json(one.decision))},
          {"min_gain", samples.policy.min_gain},
          {"max_regression", samples.policy.max_regression},
          {"confidence", samples.policy.confidence},
          {"looks", samples.policy.looks},
          {"out_of_time", samples.out_of_time},
          {"conditions",
           {{"looks", samples.conditions.looks},
            {"throttled", samples.conditions.throttled},
            {"shared", samples.conditions.shared}}},
          {"cases", std::move(cases)},
          {"pairs", std::move(pairs)}};
}

std::vector<double> samples_of(const Json& json) {
  std::vector<double> samples;
  for (const Json& one : json) samples.push_back(number(one));
  return samples;
}

// Decides again, from the samples: what the record says was decided has to come out.
Measured measured_of(const Json& json) {
  Measured one;
  one.outcome = outcome_of(json.at("outcome"));
  one.detail = json.at("detail").get<std::string>();
  MeasuredSamples& samples = one.samples;
  samples.policy.min_gain = json.at("min_gain").get<double>();
  samples.policy.max_regression = json.at("max_regression").get<double>();
  samples.policy.confidence = json.at("confidence").get<double>();
  samples.policy.looks = json.at("looks").get<std::vector<int>>();
  samples.out_of_time = json.at("out_of_time").get<bool>();
  const Json& conditions = json.at("conditions");
  samples.conditions = {.looks = conditions.at("looks").get<int>(),
                        .throttled = conditions.at("throttled").get<int>(),
                        .shared = conditions.at("shared").get<int>()};
  for (const Json& timed : json.at("cases"))
    samples.cases.push_back({timed.at("name").get<std::string>(), timed.at("weight").get<double>()});
  for (const Json& pair : json.at("pairs")) {
    std::vector<judge::PairSamples> of_cases;
    for (const Json& times : pair)
      of_cases.push_back({samples_of(times.at("incumbent_ns")), samples_of(times.at("candidate_ns"))});
    if (of_cases.size() != samples.cases.size())
      throw UserError("the record of the run has a pair of processes with another number of cases");
    samples.pairs.push_back(std::move(of_cases));
  }
  if (one.outcome != Outcome::ok) return one;
  if (const char* problem = judge::problem(samples.policy); *problem != '\0')
    throw UserError(std::string("the record of the run has a rule of deciding that cannot be: ") + problem);
  one.decision = decided(samples);
  if (Json::parse(store::to_json(one.decision)) != json.at("decision"))
    throw UserError(
        "from the recorded samples the judge decides otherwise than it did: then '" +
            util::clean(json.at("decision").at("reason").get<std::string>(), 300) + "', now '" + one.decision.reason +
            "'",
        "the samples were changed after the run, or this kagent judges by other rules than the one that recorded it");
  return one;
}

}  // namespace

std::string course_kind(const std::string& line) {
  const Json root = util::parse_shallow(line);
  if (!root.is_object() || !root.contains("step") || !root["step"].is_string()) return {};
  return root["step"].get<std::string>();
}

std::string course_line(const CourseBeginning& beginning) {
  return line_of({{"step", "begin"},
                  {"format", kFormat},
                  {"kernel", beginning.kernel},
                  {"architecture", beginning.architecture},
                  {"key", beginning.key},
                  {"started", beginning.started},
                  {"kagent_version", beginning.kagent_version},
                  {"device", beginning.device},
                  {"flags", beginning.flags},
                  {"proposer", beginning.proposer},
                  {"rounds", beginning.rounds},
                  {"width", beginning.width},
                  {"population", beginning.population},
                  {"time_budget_s", beginning.time_budget_s},
                  {"min_gain", beginning.min_gain},
                  {"goal_speedup", optional(beginning.goal_speedup)},
                  {"money", optional(beginning.money)},
                  {"tokens", optional(beginning.tokens)}});
}

CourseBeginning read_beginning(const std::string& line) {
  return reading(line, "begin", [](const Json& root) {
    if (root.at("format") != kFormat)
      throw UserError("the run was recorded by a kagent of another format", "replay it with the kagent it is of");
    CourseBeginning beginning;
    beginning.kernel = root.at("kernel").get<std::string>();
    beginning.architecture = root.at("architecture").get<std::string>();
    beginning.key = root.at("key").get<std::string>();
    beginning.started = root.at("started").get<std::string>();
    beginning.kagent_version = root.at("kagent_version").get<std::string>();
    beginning.device = root.at("device").get<std::string>();
    beginning.flags = root.at("flags").get<std::string>();
    beginning.proposer = root.at("proposer").get<std::string>();
    beginning.rounds = root.at("rounds").get<int>();
    beginning.width = root.at("width").get<int>();
    beginning.population = root.at("population").get<int>();
    beginning.time_budget_s = root.at("time_budget_s").get<std::int64_t>();
    beginning.min_gain = root.at("min_gain").get<double>();
    beginning.goal_speedup = read_optional<double>(root.at("goal_speedup"));
    beginning.money = read_optional<double>(root.at("money"));
    beginning.tokens = read_optional<std::int64_t>(root.at("tokens"));
    return beginning;
  });
}

std::string course_line(const CourseEnd& end) {
  return line_of({{"step", "end"},
                  {"interrupted", end.interrupted},
                  {"reason", end.reason},
                  {"variant", end.variant},
                  {"trials", end.trials},
                  {"input_tokens", end.input_tokens},
                  {"output_tokens", end.output_tokens},
                  {"decisions", end.decisions}});
}

CourseEnd read_end(const std::string& line) {
  return reading(line, "end", [](const Json& root) {
    return CourseEnd{root.at("interrupted").get<bool>(),          root.at("reason").get<std::string>(),
                     root.at("variant").get<std::string>(),       root.at("trials").get<int>(),
                     root.at("input_tokens").get<std::int64_t>(), root.at("output_tokens").get<std::int64_t>(),
                     root.at("decisions").get<std::string>()};
  });
}

std::string course_line(const IncumbentFound& found) {
  const profiler::Ceilings& roofs = found.ceilings;
  return line_of({{"step", "incumbent"},
                  {"reference", found.reference},
                  {"ratio", found.ratio},
                  {"roofline_share", optional(found.roofline_share)},
                  {"ceilings", Json::array({roofs.flops_per_s, roofs.bytes_per_s, roofs.half_flops_per_s,
                                            roofs.tensor_flops_per_s, roofs.launch_s})}});
}

IncumbentFound read_incumbent(const std::string& line) {
  return reading(line, "incumbent", [](const Json& root) {
    const auto roofs = root.at("ceilings").get<std::array<double, 5>>();
    return IncumbentFound{.reference = root.at("reference").get<std::string>(),
                          .ratio = root.at("ratio").get<double>(),
                          .ceilings = {.flops_per_s = roofs[0],
                                       .bytes_per_s = roofs[1],
                                       .half_flops_per_s = roofs[2],
                                       .tensor_flops_per_s = roofs[3],
                                       .launch_s = roofs[4]},
                          .roofline_share = read_optional<double>(root.at("roofline_share"))};
  });
}

std::string clock_line(double elapsed_s) {
  return line_of({{"step", "clock"}, {"elapsed_s", elapsed_s}});
}

double read_clock(const std::string& line) {
  return reading(line, "clock", [](const Json& root) { return root.at("elapsed_s").get<double>(); });
}

std::string meanwhile_line() {
  return line_of({{"step", "meanwhile"}});
}

std::string course_line(const std::string& parent, const AnalysisFound& found) {
  Json bottlenecks = Json::array();
  for (const Bottleneck& one : found.bottlenecks) bottlenecks.push_back(json_of(one));
  return line_of({{"step", "analysis"},
                  {"parent", parent},
                  {"baseline_times", case_times(found.baseline_times)},
                  {"bottlenecks", std::move(bottlenecks)}});
}

AnalysisFound read_analysis(const std::string& line, std::string& parent) {
  return reading(line, "analysis", [&](const Json& root) {
    parent = root.at("parent").get<std::string>();
    AnalysisFound found{read_case_times(root.at("baseline_times")), {}};
    for (const Json& one : root.at("bottlenecks")) found.bottlenecks.push_back(bottleneck_of(one));
    return found;
  });
}

std::string course_line(const std::vector<std::string>& asked, const std::vector<Evaluated>& found) {
  Json list = Json::array();
  for (const Evaluated& one : found) list.push_back(json_of(one));
  return line_of({{"step", "batch"}, {"asked", asked}, {"found", std::move(list)}});
}

std::vector<Evaluated> read_batch(const std::string& line, std::vector<std::string>& asked) {
  return reading(line, "batch", [&](const Json& root) {
    asked = root.at("asked").get<std::vector<std::string>>();
    std::vector<Evaluated> found;
    for (const Json& one : root.at("found")) found.push_back(evaluated_of(one));
    return found;
  });
}

std::string course_line(const std::string& candidate, const JudgedFinalist& judged) {
  Json measured = Json::array();
  for (const Measured& one : judged.measured) measured.push_back(json_of(one));
  Json variant;
  if (judged.variant)
    variant = {{"branch", judged.variant->reference},
               {"evidence", Json::parse(store::to_json(judged.variant->evidence))}};
  return line_of({{"step", "judged"},
                  {"candidate", candidate},
                  {"outcome", name(judged.outcome)},
                  {"detail", judged.detail},
                  {"measured", std::move(measured)},
                  {"roofline_share", optional(judged.roofline_share)},
                  {"variant", std::move(variant)}});
}

JudgedFinalist read_judged(const std::string& line, std::string& candidate) {
  return reading(line, "judged", [&](const Json& root) {
    candidate = root.at("candidate").get<std::string>();
    JudgedFinalist judged;
    judged.outcome = outcome_of(root.at("outcome"));
    judged.detail = root.at("detail").get<std::string>();
    for (const Json& one : root.at("measured")) judged.measured.push_back(measured_of(one));
    judged.roofline_share = read_optional<double>(root.at("roofline_share"));
    if (const Json& variant = root.at("variant"); !variant.is_null()) {
      judged.variant.emplace();
      judged.variant->reference = variant.at("branch").get<std::string>();
      judged.variant->evidence = require(store::evidence_from_json(variant.at("evidence").dump()));
    }
    // An acceptance is two measurements that both said so, unless compute-sanitizer found something after them.
    const auto accepts = [](const Measured& one) { return one.outcome == Outcome::ok && one.decision.accepted; };
    const bool accepted = judged.outcome != Outcome::sanitizer_error && judged.measured.size() == 2 &&
                          accepts(judged.measured.front()) && accepts(judged.measured.back());
    if (judged.variant.has_value() != accepted || (judged.outcome == Outcome::ok) != accepted)
      throw UserError("the record of the run " + std::string(accepted ? "leaves out" : "has") + " an acceptance that " +
                          (accepted ? "its samples show" : "no samples show"),
                      "the record was changed after the run");
    return judged;
  });
}

}  // namespace kagent::loop
