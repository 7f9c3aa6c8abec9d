// SPDX-License-Identifier: Apache-2.0
#include "loop/brief_builder.h"

#include <algorithm>
#include <set>

#include <fmt/core.h>

#include "loop/analysis.h"
#include "loop/experience.h"
#include "store/profile_record.h"
#include "toolchain/machine.h"

namespace kagent::loop {
namespace {

constexpr std::size_t kMostLessons = 12;

const Trial* find(const std::vector<Trial>& history, const std::string& hash) {
  const auto found = std::ranges::find(history, hash, &Trial::candidate_hash);
  return hash.empty() || found == history.end() ? nullptr : &*found;
}

// The fastest of each case over all trials that passed.
std::vector<CaseBest> best_of(const BriefInput& input) {
  std::vector<CaseBest> cases;
  for (const CaseTimes& one : input.baseline_times)
    cases.push_back({one.case_name, one.weight, one.baseline_ns, one.baseline_ns});
  for (const Trial& trial : input.history) {
    if (trial.outcome == Outcome::wrong_result || trial.outcome == Outcome::unstable) continue;
    for (const CaseTimes& one : trial.cases) {
      if (!(one.candidate_ns > 0) || !(one.baseline_ns > 0)) continue;
      auto known = std::ranges::find(cases, one.case_name, &CaseBest::case_name);
      if (known == cases.end()) {
        cases.push_back({one.case_name, one.weight, one.baseline_ns, one.candidate_ns});
        continue;
      }
      // Times of different runs differ with the machine's state; ratios do so less.
      known->best_ns = std::min(known->best_ns, known->baseline_ns * one.candidate_ns / one.baseline_ns);
    }
  }
  return cases;
}

// The machine that measured, with its caches as far as they are known here.
std::string with_caches(const std::string& device, Language language, const std::filesystem::path& baseline_profile) {
  std::string caches;
  if (language == Language::cuda) {
    constexpr double kMiB = 1024.0 * 1024;
    const auto record = store::read_profile(baseline_profile);
    if (record && record->device.l2_bytes > 0)
      caches = fmt::format("{:.4g} MiB L2", static_cast<double>(record->device.l2_bytes) / kMiB);
  } else if (device == toolchain::machine_description()) {
    caches = toolchain::cache_description();
  }
  return caches.empty() ? device : device + ", caches: " + caches;
}

// How a parent raced; as the baseline did, where that is not on record.
const std::vector<CaseTimes>& times_of(const BriefInput& input, const std::string& hash) {
  const Trial* trial = find(input.history, hash);
  return trial && !trial->cases.empty() ? trial->cases : input.baseline_times;
}

}  // namespace

std::vector<Bottleneck> analyse_parent(const BriefInput& input, const std::string& hash) {
  const build_step::KernelContext& context = input.context;
  auto bottlenecks =
      analyse({context.spec, context.request.language, input.parent_binary, times_of(input, hash), input.state_folder,
               input.device, context.command.compiler,
               store::profile_file(input.state_folder, context.request.kernel, context.architecture, hash)});
  return bottlenecks ? std::move(*bottlenecks) : std::vector<Bottleneck>{};
}

Brief build_brief(const BriefInput& input, ParentSource parent, std::optional<ParentSource> second) {
  const build_step::KernelContext& context = input.context;
  Brief brief;
  brief.language = context.request.language;
  brief.architecture = context.architecture;
  brief.flags = input.flags;
  brief.round = input.round;
  brief.rounds = input.rounds;
  brief.device = with_caches(input.device, brief.language,
                             store::profile_file(input.state_folder, context.request.kernel, context.architecture, ""));
  brief.bottlenecks = input.bottlenecks;
  brief.roofline_share = roofline_share(brief.bottlenecks, times_of(input, parent.hash));
  brief.cases = best_of(input);
  brief.lessons = relevant_lessons(input.lessons, context.architecture, features_of(context.spec),
                                   pattern_of(brief.bottlenecks), input.history, kMostLessons);
  brief.parent = std::move(parent);
  brief.second_parent = std::move(second);
  return brief;
}

std::vector<std::string> features_of(const KernelSpec& spec) {
  std::set<std::string> features;
  int inputs = 0, outputs = 0;
  for (const Parameter& parameter : spec.parameters) {
    if (!parameter.is_buffer()) continue;
    features.insert(std::string(name(parameter.dtype)));
    if (parameter.is_read()) ++inputs;
    if (parameter.is_written()) ++outputs;
    if (parameter.kind == ParameterKind::workspace) features.insert("workspace");
  }
  features.insert(inputs <= 1 ? "one-input" : inputs == 2 ? "two-inputs" : "many-inputs");
  if (outputs > 1) features.insert("many-outputs");
  bool reduces = false;
  for (const auto& [output, tolerance] : spec.tolerance) {
    if (tolerance.contraction) features.insert("contraction");
    if (tolerance.reduction_length) reduces = true;
  }
  features.insert(reduces ? "reduction" : "elementwise");
  if (spec.style == Style::kernel) features.insert("device-only");
  return {features.begin(), features.end()};
}

}  // namespace kagent::loop
