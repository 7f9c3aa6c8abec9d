// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "build_step/pick.h"
#include "build_step/request.h"
#include "cli/command.h"
#include "cli/devices.h"
#include "cli/json_output.h"
#include "cli/kernels.h"
#include "loop/platform.h"
#include "loop/sanitizer_check.h"
#include "store/trial_store.h"
#include "toolchain/host_toolchain.h"
#include "util/text.h"

namespace kagent::cli {
namespace {

struct ExplainOptions {
  BuildOption build;
  std::string kernel;
  bool json = false;
};

// What is known about one architecture of one kernel: the whole reasoning of a pick.
struct Explanation {
  const build_step::KernelContext* context = nullptr;
  const Choice* choice = nullptr;
  std::optional<store::Conclusion> conclusion;
  std::vector<std::string> evidence_differences;  // recorded with the variant, other now; no reason for staleness
  std::vector<std::string> on_remotes;            // variants that the build was not allowed to look at
};

// Where the baseline is built: branches of remotes, which builds leave alone unless they are told otherwise.
std::vector<std::string> unseen_on_remotes(const build_step::KernelContext& context, const Choice& choice,
                                           const store::VariantStore& variants) {
  std::vector<std::string> names;
  if (choice.variant || context.request.remote_variants) return names;
  for (const Variant& variant :
       require(variants.list(context.request.kernel, context.architecture, VariantPlace::remote_branch)))
    names.push_back(variant.reference);
  return names;
}

std::vector<std::string> evidence_differences(const build_step::KernelContext& context, const Choice& choice) {
  std::vector<std::string> lines;
  if (!choice.variant) return lines;
  const Evidence& evidence = choice.variant->evidence;
  auto compare = [&](const std::string& what, const std::string& recorded, const std::string& now) {
    if (recorded != now) lines.push_back(fmt::format("{} was '{}', is '{}'", what, recorded, now));
  };
  if (context.request.language == Language::cuda) {
    // Without such a GPU there is nothing to compare with.
    if (device_obstacle(context.architecture, devices())) return lines;
    const auto platform = loop::open_platform(context, {find_runtime({}), {}, context.request.allow_unsandboxed});
    if (!platform) return lines;
    compare("machine", evidence.device, platform->device);
    compare("compiler", evidence.compiler, platform->toolchain->compiler());
    compare("flags", evidence.flags, build_step::portable_text(platform->toolchain->flags(), context.request));
    return lines;
  }
  compare("machine", evidence.device, toolchain::machine_description());
  const auto now = toolchain::make_host_toolchain(loop::host_toolchain_options(context, {}));
  compare("compiler", evidence.compiler, now->compiler());
  compare("flags", evidence.flags, build_step::portable_text(now->flags(), context.request));
  return lines;
}

// What compute-sanitizer said of the variant that is built, or why it said nothing; empty for what is no device code.
std::string sanitizer_said(const Choice& choice) {
  if (!choice.variant) return {};
  const Evidence& evidence = choice.variant->evidence;
  if (!evidence.sanitizer.empty()) return loop::in_words(evidence.sanitizer);
  return evidence.architecture.starts_with("sm_") ? "not asked when it was accepted" : "";
}

nlohmann::ordered_json to_json(const Explanation& explanation) {
  const build_step::KernelContext& context = *explanation.context;
  nlohmann::ordered_json root{
      {"kernel", context.request.kernel},
      {"target", context.request.target},
      {"architecture", context.architecture},
      {"source", context.request.source.string()},
      {"key", context.key.hash()},
      {"choice", explanation.choice->variant ? explanation.choice->variant->reference : "baseline"}};
  root["considered"] = nlohmann::ordered_json::array();
  for (const Consideration& one : explanation.choice->considered)
    root["considered"].push_back({{"reference", one.reference}, {"taken", one.taken}, {"reason", one.reason}});
  if (explanation.conclusion)
    root["tuned"] = {{"finished", explanation.conclusion->finished},
                     {"improved", explanation.conclusion->improved()},
                     {"trials", explanation.conclusion->trials},
                     {"reason", explanation.conclusion->reason}};
  if (const std::string said = sanitizer_said(*explanation.choice); !said.empty()) root["sanitizer"] = said;
  root["evidence_differences"] = explanation.evidence_differences;
  root["on_remotes"] = explanation.on_remotes;
  return root;
}

void print(const Explanation& explanation) {
  const build_step::KernelContext& context = *explanation.context;
  fmt::print("{} ({}, {})\n", context.request.kernel, context.request.target, context.architecture);
  fmt::print("  source    {}\n", context.request.source.string());
  if (explanation.choice->variant)
    fmt::print("  built is  {}, {:.2f}x over the baseline\n", util::clean(explanation.choice->variant->reference),
               1 / explanation.choice->variant->evidence.against_baseline.ratio);
  else
    fmt::print("  built is  the baseline\n");
  if (const std::string said = sanitizer_said(*explanation.choice); !said.empty())
    fmt::print("  checked   compute-sanitizer: {}\n", util::clean(said));
  for (const Consideration& one : explanation.choice->considered)
    fmt::print("    {} {}: {}\n", one.taken ? "*" : "-", util::clean(one.reference), util::clean(one.reason));
  if (explanation.conclusion)
    fmt::print("  tuned     {}: {}; {} trials, ended since {}\n", explanation.conclusion->finished,
               explanation.conclusion->improved() ? "improved" : "no improvement", explanation.conclusion->trials,
               util::clean(explanation.conclusion->reason));
  else
    fmt::print("  tuned     not for these inputs\n");
  if (!explanation.on_remotes.empty())
    fmt::print(
        "  note      not looked at, since on a remote: {} (configure with -DKAGENT_REMOTE_VARIANTS=ON, or make it "
        "a local branch)\n",
        util::clean(fmt::format("{}", fmt::join(explanation.on_remotes, ", "))));
  for (const std::string& line : explanation.evidence_differences)
    fmt::print("  note      {} (no reason for staleness)\n", util::clean(line));
}

int explain(const ExplainOptions& options) {
  auto requests = require(build_step::find_requests(options.build.folder, options.kernel, options.build.target));
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const KernelRequest& request : requests) {
    store::VariantStore variants = open_variants(request);
    const build_step::Pick pick = require(build_step::pick(request, variants));
    const auto trials = recorded_trials(variants);
    for (std::size_t i = 0; i < pick.contexts.size(); ++i) {
      Explanation explanation{&pick.contexts[i], &pick.choices[i], {}, {}, {}};
      if (trials)
        explanation.conclusion =
            require(trials->conclusion(request.kernel, pick.contexts[i].architecture, pick.contexts[i].key.hash()));
      explanation.evidence_differences = evidence_differences(pick.contexts[i], pick.choices[i]);
      explanation.on_remotes = unseen_on_remotes(pick.contexts[i], pick.choices[i], variants);
      if (options.json)
        all.push_back(to_json(explanation));
      else
        print(explanation);
    }
  }
  if (options.json) print_json(all);
  return kDone;
}

}  // namespace

void add_explain(CLI::App& app, Action& action) {
  auto options = std::make_shared<ExplainOptions>();
  CLI::App* command = app.add_subcommand("explain", "Why a build compiles what it compiles");
  command->add_option("kernel", options->kernel, "Name of the kernel; all of the build tree if left out");
  add_build_option(*command, options->build);
  command->add_flag("--json", options->json, "Print JSON");
  add_example(*command, "kagent explain softmax --build build");
  command->callback([options, &action] { action = [options] { return explain(*options); }; });
}

}  // namespace kagent::cli
