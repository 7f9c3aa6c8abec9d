// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <memory>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "build_step/pick.h"
#include "build_step/request.h"
#include "cli/command.h"
#include "cli/json_output.h"
#include "cli/kernels.h"
#include "cli/usage.h"
#include "cli/variants.h"
#include "loop/proposers.h"
#include "report/html.h"
#include "report/text_table.h"
#include "store/trial_store.h"
#include "util/files.h"
#include "util/text.h"

namespace kagent::cli {
namespace {

struct ReportOptions {
  BuildOption build;
  std::string kernel;
  std::filesystem::path html;
  bool json = false;
};

std::vector<report::KernelReport> gather(const KernelRequest& request) {
  store::VariantStore variants = open_variants(request);
  const build_step::Pick pick = require(build_step::pick(request, variants));
  std::vector<Trial> recent;
  if (const auto trials = recorded_trials(variants))
    recent = require(trials->recent(request.kernel, std::numeric_limits<int>::max()));
  std::vector<report::KernelReport> reports;
  for (const Choice& choice : pick.choices) {
    report::KernelReport one{request.kernel, request.target, choice.architecture, choice, {}, {}, {}};
    one.generations = all_variants(variants, request.kernel, choice.architecture);
    for (const Trial& trial : recent)
      if (trial.architecture == choice.architecture) {
        ++one.outcomes[trial.outcome];
        // What agents report of themselves; models are counted by their exchanges.
        if (trial.candidate.role == "agent") one.usage["agent"] += trial.candidate.usage;
      }
    for (const auto& [role, used] :
         loop::recorded_usage(loop::exchanges_folder(variants.state_folder(), request.kernel, choice.architecture)))
      one.usage[role] += used;
    reports.push_back(std::move(one));
  }
  return reports;
}

int count_trials(const report::KernelReport& report) {
  int count = 0;
  for (const auto& [outcome, number] : report.outcomes) count += number;
  return count;
}

std::string table(const std::vector<report::KernelReport>& reports) {
  std::vector<std::vector<std::string>> rows;
  for (const report::KernelReport& one : reports) {
    const auto& variant = one.choice.variant;
    rows.push_back({one.kernel, one.target, one.architecture, variant ? variant->reference : "baseline",
                    variant ? speedup(variant->evidence.against_baseline.ratio) : "",
                    std::to_string(one.generations.size()), std::to_string(count_trials(one))});
  }
  using enum report::Alignment;
  return report::text_table({{"kernel"},
                             {"target"},
                             {"architecture"},
                             {"built is"},
                             {"speedup", right},
                             {"generations", right},
                             {"trials", right}},
                            rows);
}

nlohmann::ordered_json to_json(const report::KernelReport& one) {
  nlohmann::ordered_json root{{"kernel", one.kernel},
                              {"target", one.target},
                              {"architecture", one.architecture},
                              {"choice", one.choice.variant ? one.choice.variant->reference : "baseline"}};
  if (one.choice.variant) root["speedup"] = 1 / one.choice.variant->evidence.against_baseline.ratio;
  root["generations"] = nlohmann::ordered_json::array();
  for (const Variant& variant : one.generations) root["generations"].push_back(variant.reference);
  root["trials"] = nlohmann::ordered_json::object();
  for (const auto& [outcome, count] : one.outcomes) root["trials"][std::string(name(outcome))] = count;
  root["usage"] = usage_json(one.usage);
  return root;
}

int report(const ReportOptions& options) {
  const auto requests = require(build_step::find_requests(options.build.folder, options.kernel, options.build.target));
  std::vector<report::KernelReport> reports;
  for (const KernelRequest& request : requests) std::ranges::move(gather(request), std::back_inserter(reports));
  if (!options.html.empty()) {
    const std::string project = requests.front().project_dir.filename().string();
    require(util::write_file_atomically(options.html, report::html_page(project, reports)));
  }
  if (options.json) {
    nlohmann::ordered_json lines = nlohmann::ordered_json::array();
    for (const report::KernelReport& one : reports) lines.push_back(to_json(one));
    print_json(lines);
  } else {
    fmt::print("{}", table(reports));
    for (const report::KernelReport& one : reports)
      if (const std::string used = usage_text(one.usage); !used.empty())
        fmt::print("models for {} ({}):\n{}", one.kernel, one.architecture, used);
    if (!options.html.empty()) fmt::print("written: {}\n", options.html.string());
  }
  return kDone;
}

}  // namespace

void add_report(CLI::App& app, Action& action) {
  auto options = std::make_shared<ReportOptions>();
  CLI::App* command = app.add_subcommand("report", "All kernels of a build tree at a glance");
  command->add_option("kernel", options->kernel, "Name of the kernel; all of the build tree if left out");
  add_build_option(*command, options->build);
  command->add_option("--html", options->html, "Also write a page of its own with cases, generations and trials");
  command->add_flag("--json", options->json, "Print JSON");
  add_example(*command, "kagent report --build build --html kagent.html");
  command->callback([options, &action] { action = [options] { return report(*options); }; });
}

}  // namespace kagent::cli
