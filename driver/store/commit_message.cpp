// SPDX-License-Identifier: Apache-2.0
#include "store/commit_message.h"

#include <algorithm>

#include <fmt/core.h>

#include "store/variant_name.h"
#include "util/text.h"

namespace kagent::store {
namespace {

// How many times as fast, from the ratio of the times.
double speedup(double ratio) {
  return ratio > 0 ? 1 / ratio : 0;
}

// Cleaned text of one paragraph; git has no use for lines that look like its own.
std::string paragraph(const std::string& text) {
  std::string result = util::clean(text, 4000);
  std::replace(result.begin(), result.end(), '\n', ' ');
  return result;
}

std::string duration(double ns) {
  if (ns >= 1e9) return fmt::format("{:.3g} s", ns / 1e9);
  if (ns >= 1e6) return fmt::format("{:.3g} ms", ns / 1e6);
  if (ns >= 1e3) return fmt::format("{:.3g} us", ns / 1e3);
  return fmt::format("{:.3g} ns", ns);
}

std::string cases_table(const Decision& decision) {
  std::size_t width = 4;
  for (const CaseRatio& entry : decision.cases) width = std::max(width, paragraph(entry.case_name).size());
  std::string text =
      fmt::format("  {:<{}}  {:>10}  {:>10}  speedup over baseline\n", "case", width, "baseline", "variant");
  for (const CaseRatio& entry : decision.cases)
    text += fmt::format("  {:<{}}  {:>10}  {:>10}  {:.2f}x ({:.2f}x to {:.2f}x at {:g} %)\n",
                        paragraph(entry.case_name), width, duration(entry.incumbent_ns), duration(entry.candidate_ns),
                        speedup(entry.ratio), speedup(entry.high), speedup(entry.low), decision.confidence * 100);
  return text;
}

std::string subject(const Evidence& evidence) {
  std::string text = fmt::format("{} {} {}: {:.2f}x over baseline", evidence.kernel, evidence.architecture,
                                 generation_name(evidence.generation), speedup(evidence.against_baseline.ratio));
  if (evidence.parent == "baseline") return text;
  const auto parent = parse_variant_name(evidence.parent);
  return text + fmt::format(" ({:.2f}x over {})", speedup(evidence.against_incumbent.ratio),
                            parent ? generation_name(parent->generation) : paragraph(evidence.parent));
}

}  // namespace

std::string commit_message(const Evidence& evidence) {
  std::string text = subject(evidence) + "\n\n";
  if (!evidence.hypothesis.empty()) text += paragraph(evidence.hypothesis) + "\n\n";
  if (!evidence.reflection.empty()) text += paragraph(evidence.reflection) + "\n\n";
  if (!evidence.tunables.empty()) {
    text += "Tunables:";
    for (const auto& [name, value] : evidence.tunables) text += fmt::format(" {}={}", paragraph(name), value);
    text += "\n\n";
  }
  text += cases_table(evidence.against_baseline) + "\n";
  if (!evidence.expected_from.empty()) {
    text += "Verified against:";
    for (const std::string& line : evidence.expected_from) text += " " + paragraph(line) + ";";
    text.back() = '\n';
  }
  for (const auto& [output, error] : evidence.max_error_over_bound)
    text += fmt::format("Largest error of {}: {:.3g} of what is allowed\n", paragraph(output), error);
  text += "\nProposer: " + paragraph(evidence.proposer) + "\nCompiler: " + paragraph(evidence.compiler) +
          "\nMachine: " + paragraph(evidence.device) + "\nSandbox: " + paragraph(evidence.sandbox) + "\n";
  return text;
}

}  // namespace kagent::store
