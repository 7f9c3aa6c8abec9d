// SPDX-License-Identifier: Apache-2.0
#include "proposer/prompt_parts.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "proposer/prompt_text.h"

namespace kagent::proposer {

namespace {

std::string_view kind_name(ParameterKind kind) {
  switch (kind) {
    case ParameterKind::input:
      return "input";
    case ParameterKind::output:
      return "output";
    case ParameterKind::inout:
      return "read and written";
    case ParameterKind::size:
      return "size";
    case ParameterKind::scalar:
      return "scalar";
    case ParameterKind::workspace:
      return "workspace";
    case ParameterKind::stream:
      return "stream";
  }
  return "";
}

Language language_of(const Proposal& proposal) {
  return proposal.brief != nullptr ? proposal.brief->language : Language::cxx;
}

std::string parameters(const KernelSpec& spec) {
  std::string text;
  for (const Parameter& parameter : spec.parameters) {
    text += fmt::format("- {}: {}", parameter.name, kind_name(parameter.kind));
    if (parameter.kind != ParameterKind::stream) text += fmt::format(" {}", name(parameter.dtype));
    if (parameter.is_buffer()) {
      std::string shape;
      for (const Expression& extent : parameter.shape) shape += (shape.empty() ? "" : ", ") + extent.text();
      text += fmt::format(" [{}]", shape);
      if (parameter.alignment_bytes > 0) text += fmt::format(", aligned to {} bytes", parameter.alignment_bytes);
      if (parameter.constant_memory) text += ", in constant memory";
    }
    text += "\n";
  }
  return text;
}

std::string list(const std::vector<Expression>& expressions) {
  std::string text;
  for (const Expression& one : expressions) text += (text.empty() ? "" : "; ") + one.text();
  return text;
}

std::string extents(const std::array<Expression, 3>& three) {
  return fmt::format("({}, {}, {})", three[0].text(), three[1].text(), three[2].text());
}

std::string launch(const Launch& launch) {
  std::string text = fmt::format("Launch geometry: grid {}, block {}", extents(launch.grid), extents(launch.block));
  if (launch.cluster) text += ", cluster " + extents(*launch.cluster);
  if (launch.shared_memory) text += fmt::format(", dynamic shared memory {} bytes", launch.shared_memory->text());
  if (!launch.instance.empty()) text += ", instance " + launch.instance;
  return text + "\n";
}

}  // namespace

std::string describe_tunable(const Tunable& one) {
  constexpr std::size_t kMostValues = 24;
  std::string values;
  for (std::size_t i = 0; i < std::min(one.values.size(), kMostValues); ++i)
    values += (i > 0 ? ", " : "") + std::to_string(one.values[i]);
  if (one.values.size() > kMostValues) values += ", ...";
  return fmt::format("{}: {}", one.name, values);
}

namespace {

std::string percent(double share) {
  return fmt::format("{:.0f} %", 100 * share);
}

std::string duration(double ns) {
  return ns >= 1e6 ? fmt::format("{:.4g} ms", ns / 1e6) : fmt::format("{:.4g} us", ns / 1e3);
}

}  // namespace

std::string rules_part(const Proposal& proposal) {
  const KernelSpec& spec = proposal.spec;
  const Rules& rules = spec.rules;
  std::string libraries = "No library does the work: write it yourself.";
  if (!rules.libraries.empty()) {
    libraries = "These libraries may be used:";
    for (const std::string& library : rules.libraries) libraries += " " + library;
  }
  const bool cuda = language_of(proposal) == Language::cuda;
  return fill("rules.txt",
              {{"entry", spec.entry},
               {"max_edits", std::to_string(rules.max_edits)},
               {"algorithm",
                rules.allow_algorithm_change
                    ? "The algorithm may change, as long as the results stay within their tolerances."
                    : "The algorithm stays: tiling, unrolling, wider access, staging, fusing and splitting loops or "
                      "kernels are fine; other functions of mathematics, narrower number types, recursion, sorting, "
                      "containers and allocation are not."},
               {"order", rules.allow_nondeterminism
                             ? "Results may differ from run to run within their tolerances."
                             : "Two runs on the same inputs give the same bits: no sums by atomics on floating-point "
                               "numbers."},
               {"libraries", libraries},
               {"policy", fill(!cuda                           ? "policy_cxx.txt"
                               : spec.style == Style::launcher ? "policy_launcher.txt"
                                                               : "policy_kernel.txt",
                               {})}});
}

std::string task_part(const Proposal& proposal) {
  const KernelSpec& spec = proposal.spec;
  std::string cases, sizes, work, tunables;
  double weights = 0;
  for (const Case& one : spec.cases) weights += one.timed ? one.weight : 0;
  for (const Case& one : spec.cases) {
    if (!one.timed) continue;
    cases += fmt::format("- {} ({} of the weight):", one.name, percent(one.weight / weights));
    for (const auto& [name, value] : one.sizes) cases += fmt::format(" {}={}", name, value);
    cases += "\n";
  }
  if (!spec.requirements.empty()) sizes = fmt::format("Sizes always meet: {}\n", list(spec.requirements));
  if (spec.flops) work += fmt::format("Operations of a call: {}\n", spec.flops->text());
  if (spec.bytes) work += fmt::format("Bytes that a call has to move: {}\n", spec.bytes->text());
  if (!spec.tunables.empty()) {
    tunables = "Tunables, macros whose values the search looks for:\n";
    for (const Tunable& one : spec.tunables) tunables += "- " + describe_tunable(one) + "\n";
    if (!spec.constraints.empty()) tunables += fmt::format("Constraints: {}\n", list(spec.constraints));
  }
  const bool cuda = language_of(proposal) == Language::cuda;
  const std::string flags = proposal.brief != nullptr ? on_one_line(proposal.brief->flags, 400) : "";
  return fill("task.txt", {{"kernel", spec.kernel},
                           {"language", cuda ? "CUDA C++" : "C++"},
                           {"flags", flags.empty() ? "as the project's build says" : flags},
                           {"parameters", parameters(spec)},
                           {"sizes", sizes},
                           {"cases", cases},
                           {"work", work},
                           {"tunables", tunables},
                           {"launch", spec.launch ? launch(*spec.launch) : ""}});
}

std::string bottleneck_part(const Brief& brief) {
  std::string cases;
  for (const Bottleneck& one : brief.bottlenecks) {
    cases +=
        fmt::format("\nCase {}: {} a call\n| coordinate | value |\n|---|---|\n", one.case_name, duration(one.time_ns));
    const auto row = [&](std::string_view name, std::string_view value) {
      if (!value.empty() && value != "not known") cases += fmt::format("| {} | {} |\n", name, on_one_line(value));
    };
    row("limited by", one.limited_by);
    row("where (resource)", one.resource);
    row("when (time)", one.time);
    row("on what (memory)", one.space);
    if (one.roofline_share) row("share of the roofline", percent(*one.roofline_share));
    row("numbers come from", one.tier_reason.empty() ? one.tier : one.tier + ": " + one.tier_reason);
    for (const Metric& metric : one.metrics)
      row(on_one_line(metric.name, 100),
          fmt::format("{:.4g}{}", metric.value, metric.unit == "1" ? "" : " " + metric.unit));
    for (const std::string& kernel : one.kernels) row("on the device", on_one_line(kernel, 300));
    row("machine code", one.code.empty() && !one.code_reason.empty() ? "not known: " + one.code_reason : one.code);
    for (const std::string& line : one.lines) row("in the source", line);
    for (const Pattern& pattern : one.patterns)
      cases +=
          fmt::format("- {} (about {} of the time): {}. Usual remedies: {}\n", on_one_line(pattern.name, 100),
                      percent(pattern.severity), on_one_line(pattern.evidence, 400), on_one_line(pattern.advice, 400));
  }
  std::string roofline;
  if (brief.roofline_share)
    roofline = fmt::format(
        "The best so far reaches {} of the roofline, weighted over the cases: at most {} can still be "
        "gained.",
        percent(*brief.roofline_share), speedup(std::min(1.0, *brief.roofline_share)));
  if (cases.empty() && roofline.empty()) return {};
  return fill("bottleneck.txt", {{"cases", cases}, {"roofline", roofline}});
}

std::string best_part(const Brief& brief) {
  if (brief.cases.empty()) return {};
  std::string table = "| case | weight | baseline | best | speedup |\n|---|---|---|---|---|\n";
  for (const CaseBest& one : brief.cases)
    table += fmt::format("| {} | {:.3g} | {} | {} | {} |\n", one.case_name, one.weight, duration(one.baseline_ns),
                         duration(one.best_ns), one.baseline_ns > 0 ? speedup(one.best_ns / one.baseline_ns) : "?");
  return fill("best.txt", {{"table", table}});
}

std::string lessons_part(const Brief& brief) {
  if (brief.lessons.empty()) return {};
  std::string lessons;
  for (const Lesson& lesson : brief.lessons)
    lessons += fmt::format(
        "- {}: {} -> {} ({}{}; from {})\n", on_one_line(lesson.pattern, 100), on_one_line(lesson.change),
        lesson.outcome == Outcome::ok || lesson.outcome == Outcome::slower || lesson.outcome == Outcome::same
            ? speedup(lesson.effect)
            : std::string(name(lesson.outcome)),
        on_one_line(lesson.architecture, 40),
        [&] {
          std::string features;
          for (const std::string& feature : lesson.features) features += ", " + feature;
          return on_one_line(features, 120);
        }(),
        on_one_line(lesson.from, 100));
  return fill("lessons.txt", {{"lessons", lessons}});
}

}  // namespace kagent::proposer
