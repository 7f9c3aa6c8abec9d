// SPDX-License-Identifier: Apache-2.0
#include "report/html.h"

#include <fmt/format.h>

#include "report/interval_chart.h"
#include "report/wording.h"
#include "util/text.h"

namespace kagent::report {
namespace {

// The policy keeps even a hole in the escaping from loading or running anything.
constexpr std::string_view kHead = R"(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width">
<style>
:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; margin: .5rem 0 1.5rem; }
th, td { text-align: left; padding: .2rem .9rem .2rem 0; border-bottom: 1px solid #8884; vertical-align: top; }
td.number { text-align: right; font-variant-numeric: tabular-nums; }
code { font-size: 90%; overflow-wrap: anywhere; }
svg line { stroke: #888; stroke-width: 2; } svg circle { fill: #888; }
svg line.one { stroke: #8888; stroke-width: 1; }
svg line.faster { stroke: #2a8a3e; } svg circle.faster { fill: #2a8a3e; }
svg line.slower { stroke: #c0392b; } svg circle.slower { fill: #c0392b; }
</style>
)";

std::string cell(const std::string& untrusted) {
  return "<td>" + html_text(untrusted) + "</td>";
}
std::string code_cell(const std::string& untrusted) {
  return "<td><code>" + html_text(untrusted) + "</code></td>";
}
std::string number_cell(const std::string& text) {
  return "<td class=\"number\">" + html_text(text) + "</td>";
}

std::string header(std::initializer_list<std::string_view> titles) {
  std::string row = "<tr>";
  for (std::string_view title : titles) row += "<th>" + html_text(title) + "</th>";
  return row + "</tr>\n";
}

std::string title_of(const KernelReport& kernel) {
  return fmt::format("{} ({}, {})", kernel.kernel, kernel.target, kernel.architecture);
}

std::string speedup(const Decision& decision) {
  return speedup_text(decision.ratio, decision.low, decision.high);
}

std::string tunables_text(const TunableValues& tunables) {
  std::string text;
  for (const auto& [name, value] : tunables) text += fmt::format("{}{}={}", text.empty() ? "" : ", ", name, value);
  return text;
}

std::string overview(const std::vector<KernelReport>& kernels) {
  std::string html = "<table>\n" + header({"kernel", "target", "architecture", "a build takes", "over the baseline"});
  for (const KernelReport& kernel : kernels) {
    const auto& variant = kernel.choice.variant;
    html += "<tr>" + cell(kernel.kernel) + cell(kernel.target) + cell(kernel.architecture) +
            code_cell(variant ? variant->reference : "baseline") +
            cell(variant ? speedup(variant->evidence.against_baseline) : "") + "</tr>\n";
  }
  return html + "</table>\n";
}

std::string cases_table(const Decision& decision) {
  const SpeedupRange range = range_of(decision.cases);
  std::string html = "<table>\n" + header({"case", "baseline", "variant", "speedup", "interval", "verdict"});
  for (const CaseRatio& one : decision.cases) {
    const std::vector<std::string> times = times_text({one.incumbent_ns, one.candidate_ns});
    html += "<tr>" + cell(one.case_name) + number_cell(times[0]) + number_cell(times[1]) +
            cell(speedup_text(one.ratio, one.low, one.high)) + "<td>" + interval_svg(one, range) + "</td>" +
            cell(std::string(name(one.comparison))) + "</tr>\n";
  }
  return html + "</table>\n";
}

std::string generations_table(const std::vector<Variant>& generations) {
  std::string html =
      "<h3>Generations</h3>\n<table>\n" + header({"generation", "branch", "over the baseline", "over its parent",
                                                  "tunables", "why", "measured on", "made"});
  for (const Variant& variant : generations) {
    const Evidence& evidence = variant.evidence;
    html += "<tr>" + number_cell(std::to_string(evidence.generation)) + code_cell(variant.reference) +
            cell(speedup(evidence.against_baseline)) + cell(speedup(evidence.against_incumbent)) +
            code_cell(tunables_text(evidence.tunables)) + cell(evidence.hypothesis) + cell(evidence.device) +
            cell(evidence.created) + "</tr>\n";
  }
  return html + "</table>\n";
}

std::string considered_table(const std::vector<Consideration>& considered) {
  std::string html = "<h3>Considered</h3>\n<table>\n" + header({"what", "taken", "why"});
  for (const Consideration& one : considered)
    html += "<tr>" + code_cell(one.reference) + cell(one.taken ? "yes" : "no") + cell(one.reason) + "</tr>\n";
  return html + "</table>\n";
}

std::string outcomes_table(const std::map<Outcome, int>& outcomes) {
  std::string html = "<h3>Trials</h3>\n<table>\n" + header({"outcome", "trials"});
  for (const auto& [outcome, count] : outcomes)
    html += "<tr>" + cell(std::string(name(outcome))) + number_cell(std::to_string(count)) + "</tr>\n";
  return html + "</table>\n";
}

std::string usage_table(const std::map<std::string, Usage>& usage) {
  std::string html =
      "<h3>Models</h3>\n<table>\n" + header({"role", "tokens read", "of them cached", "written", "cost", "waited"});
  for (const auto& [role, used] : usage)
    html += "<tr>" + cell(role == "agent" ? "agent, as it reported" : role) +
            number_cell(std::to_string(used.input_tokens)) + number_cell(std::to_string(used.cached_tokens)) +
            number_cell(std::to_string(used.output_tokens)) + number_cell(fmt::format("{:.4g}", used.cost)) +
            number_cell(fmt::format("{:.0f} s", used.seconds)) + "</tr>\n";
  return html + "</table>\n";
}

std::string section(const KernelReport& kernel) {
  std::string html = "<h2>" + html_text(title_of(kernel)) + "</h2>\n";
  if (const auto& variant = kernel.choice.variant) {
    html += "<p>A build takes <code>" + html_text(variant->reference) + "</code>.</p>\n";
    html += cases_table(variant->evidence.against_baseline);
  } else {
    html += "<p>A build takes the baseline.</p>\n";
  }
  if (!kernel.generations.empty()) html += generations_table(kernel.generations);
  if (!kernel.choice.considered.empty()) html += considered_table(kernel.choice.considered);
  if (!kernel.outcomes.empty()) html += outcomes_table(kernel.outcomes);
  if (!kernel.usage.empty()) html += usage_table(kernel.usage);
  return html;
}

}  // namespace

std::string html_text(std::string_view untrusted) {
  std::string text;
  for (char c : util::clean(untrusted)) {
    switch (c) {
      case '&':
        text += "&amp;";
        break;
      case '<':
        text += "&lt;";
        break;
      case '>':
        text += "&gt;";
        break;
      case '"':
        text += "&quot;";
        break;
      case '\'':
        text += "&#39;";
        break;
      default:
        text += c;
    }
  }
  return text;
}

std::string html_page(const std::string& project, const std::vector<KernelReport>& kernels) {
  const std::string title = "Kernels of " + html_text(project);
  std::string html = std::string(kHead) + "<title>" + title + "</title>\n</head>\n<body>\n<h1>" + title + "</h1>\n";
  html += kernels.empty() ? "<p>There are no kernels.</p>\n" : overview(kernels);
  for (const KernelReport& kernel : kernels) html += section(kernel);
  return html + "</body>\n</html>\n";
}

}  // namespace kagent::report
