// SPDX-License-Identifier: Apache-2.0
#include "loop/acceptance.h"

#include <fmt/core.h>

#include "build_step/header_list.h"
#include "loop/analysis.h"
#include "loop/profile.h"
#include "loop/sanitizer_check.h"
#include "store/reviews.h"
#include "util/sandbox.h"
#include "util/text.h"
#include "values/version.h"

namespace kagent::loop {
namespace {

namespace fs = std::filesystem;

Outcome outcome_of(Comparison comparison) {
  switch (comparison) {
    case Comparison::faster:
      return Outcome::ok;
    case Comparison::slower:
      return Outcome::slower;
    case Comparison::same:
      return Outcome::same;
    case Comparison::ambiguous:
      return Outcome::ambiguous;
  }
  return Outcome::ambiguous;
}

// The kernel as it was tuned: source, headers and golden folder, as far as the repository holds such files. Headers
// that the build generates are not part of the project.
std::vector<store::ProjectFile> project_files(const build_step::KernelContext& context,
                                              const store::VariantStore& variants) {
  std::vector<store::ProjectFile> files;
  auto inside = [](const fs::path& path, const fs::path& folder) {
    const fs::path relative = path.lexically_normal().lexically_relative(folder.lexically_normal());
    return !relative.empty() && *relative.begin() != "..";
  };
  auto add = [&](const fs::path& path) {
    if (inside(path, variants.repository_root()) && !inside(path, context.request.build_dir)) files.push_back({path});
  };
  add(context.request.source);
  for (const fs::path& header : context.headers) add(header);
  for (const fs::path& file : context.spec.files) add(file);
  return files;
}

Evidence evidence_of(Workbench& bench, const Incumbent& incumbent, const Evaluated& finalist, const Binary& binary,
                     Decision incumbent_decision, Decision baseline_decision) {
  const build_step::KernelContext& context = bench.context();
  const Candidate& candidate = finalist.trial.candidate;
  Evidence evidence;
  evidence.kernel = context.request.kernel;
  evidence.architecture = context.architecture;
  evidence.parent = incumbent.variant ? incumbent.variant->reference : "baseline";
  evidence.key = context.key;
  evidence.source_name = context.request.source.filename().string();
  evidence.source_hash = candidate_hash(candidate, context.request);
  evidence.object_hash = binary.object_hash;
  evidence.symbol = binary.symbol;
  evidence.device_usage = binary.device_usage;
  evidence.flags = build_step::portable_text(bench.toolchain().flags(), context.request);
  evidence.compiler = bench.toolchain().compiler();
  evidence.device = bench.platform().device;
  evidence.sandbox = util::sandbox_state().available ? util::sandbox_state().description : "none";
  if (const auto& gpu = bench.platform().gpu) evidence.driver = "CUDA " + gpu->cuda_version();
  evidence.tunables = candidate.tunables;
  evidence.launch = candidate.launch;
  evidence.model = candidate.model;
  evidence.usage = candidate.usage;
  evidence.against_incumbent = std::move(incumbent_decision);
  evidence.against_baseline = std::move(baseline_decision);
  evidence.expected_from = bench.suite().expected_from();
  evidence.max_error_over_bound = finalist.max_error_over_bound;
  evidence.proposer = candidate.proposer;
  evidence.hypothesis = candidate.hypothesis;
  evidence.reflection = fmt::format("{:.2f}x over the generation before, {:.2f}x over the baseline",
                                    1 / evidence.against_incumbent.ratio, 1 / evidence.against_baseline.ratio);
  if (!finalist.trial.reflection.empty()) evidence.reflection += "; racing: " + finalist.trial.reflection;
  evidence.created = util::utc_now();
  evidence.kagent_version = kVersion;
  return evidence;
}

// What measured well runs under compute-sanitizer before it is accepted: last, since few come so far. On the device's
// lane: it would disturb what others measure.
SanitizerReport sanitize(Workbench& bench, const Binary& binary, const VerificationSuite& suite,
                         const MeasurementOptions& measuring, ProgressObserver& progress) {
  const auto& gpu = bench.platform().gpu;
  if (!gpu || suite.checks().empty()) return {};
  SanitizerCheckOptions options;
  options.runner.device = *gpu;
  options.runner.kernel_runner = bench.platform().kernel_runner;
  options.how.sanitizer = runner::find_sanitizer();
  options.how.allow_unsandboxed = bench.options().allow_unsandboxed;
  options.interrupted = measuring.interrupted;
  const auto lane = enter_lane(measuring, "compute-sanitizer of " + bench.spec().kernel);
  const Check& check = check_for_sanitizer(suite.checks());
  return check_under_sanitizer({binary, bench.built_baseline(), bench.built_spec().parameters, check.inputs}, options,
                               progress);
}

// What limited the incumbent, and what limits the variant, in numbers.
void add_counters(Workbench& bench, const Incumbent& incumbent, const Evaluated& finalist, const Binary& binary,
                  Evidence& evidence) {
  const std::string& hash = finalist.trial.candidate_hash;
  profile(bench, incumbent);
  profile(bench, binary, hash, &finalist.trial.candidate);
  std::vector<CaseTimes> before, after;
  for (const CaseRatio& one : evidence.against_incumbent.cases) {
    before.push_back({one.case_name, one.weight, 0, one.incumbent_ns});
    after.push_back({one.case_name, one.weight, 0, one.candidate_ns});
  }
  const auto numbers = [&](const std::vector<CaseTimes>& times, const std::string& of) {
    return profiled_numbers({bench.spec(),
                             bench.context().request.language,
                             nullptr,
                             times,
                             bench.options().state_folder,
                             bench.platform().device,
                             {},
                             profile_of(bench, of)});
  };
  evidence.counters_before = numbers(before, incumbent.source_hash());
  evidence.counters_after = numbers(after, hash);
}

// The program that the build would make of the finalist, where the inner loop ran another one.
Result<Binary> as_built(Workbench& bench, const Evaluated& finalist, JudgedFinalist& judged) {
  if (!bench.platform().quick_toolchain) return *finalist.binary;
  auto compiled = bench.compile_as_built(finalist.trial.candidate);
  if (!compiled) return std::unexpected(compiled.error());
  judged.outcome = compiled->outcome;
  judged.detail = "as the build compiles it: " + compiled->diagnostics.substr(0, compiled->diagnostics.find('\n'));
  return compiled->binary;
}

}  // namespace

void profile(Workbench& bench, const Incumbent& incumbent) {
  std::optional<Candidate> candidate;
  if (incumbent.variant) candidate = as_candidate(*incumbent.variant);
  profile(bench, incumbent.binary, incumbent.source_hash(), candidate ? &*candidate : nullptr);
}

Result<JudgedFinalist> judge_finalist(Workbench& bench, store::VariantStore& variants, const Incumbent& incumbent,
                                      const Evaluated& finalist, MeasurementOptions options,
                                      ProgressObserver& progress) {
  JudgedFinalist judged;
  const auto binary = as_built(bench, finalist, judged);
  if (!binary) return std::unexpected(binary.error());
  if (judged.outcome != Outcome::ok) return judged;
  auto suite = bench.fresh_suite(secret_seed());
  if (!suite) return std::unexpected(suite.error());
  auto report = suite->verify(*binary, bench.runner());
  if (!report) return std::unexpected(report.error());
  if (report->outcome != Outcome::ok) {
    judged.outcome = report->outcome;
    judged.detail = "under a fresh seed: " + report->detail;
    return judged;
  }

  auto against = [&](const Binary& opponent, const std::string& what) {
    options.seed = secret_seed();
    options.progress = [&](int pair, int pairs) { progress.on_event(MeasuringFinalist{what, pair, pairs}); };
    return measure(bench.runner(), bench.built_spec(), opponent, *binary, options);
  };
  // Takes what was measured into the verdict; true if the candidate is accepted by it.
  auto passes = [&](const Measured& measured, const std::string& what) {
    judged.interrupted = measured.interrupted;
    judged.measured.push_back(measured);
    if (measured.interrupted) return false;
    judged.outcome = measured.outcome != Outcome::ok ? measured.outcome : outcome_of(measured.decision.comparison);
    judged.detail = measured.outcome != Outcome::ok ? measured.detail : measured.decision.reason;
    if (measured.outcome == Outcome::ok && !measured.decision.accepted) {
      if (judged.outcome == Outcome::ok) judged.outcome = Outcome::ambiguous;
      progress.on_event(Rejected{measured.decision});
    }
    if (judged.outcome != Outcome::ok) judged.detail = "against " + what + ": " + judged.detail;
    return judged.outcome == Outcome::ok;
  };

  auto against_incumbent = against(incumbent.binary, "the incumbent");
  if (!against_incumbent) return std::unexpected(against_incumbent.error());
  if (!passes(*against_incumbent, "the incumbent")) return judged;
  // The winner of many noisy comparisons looks better than it is: measured again, on fresh processes and contents.
  auto against_baseline = against(bench.built_baseline(), "the baseline");
  if (!against_baseline) return std::unexpected(against_baseline.error());
  if (!passes(*against_baseline, "the baseline")) return judged;

  const SanitizerReport sanitized = sanitize(bench, *binary, *suite, options, progress);
  judged.interrupted = sanitized.interrupted;
  if (sanitized.outcome != Outcome::ok) {
    judged.outcome = sanitized.outcome;
    judged.detail = sanitized.detail;
  }
  if (judged.interrupted || judged.outcome != Outcome::ok) return judged;

  store::NewVariant variant;
  variant.evidence =
      evidence_of(bench, incumbent, finalist, *binary, against_incumbent->decision, against_baseline->decision);
  variant.evidence.sanitizer = sanitized.tools;
  add_counters(bench, incumbent, finalist, *binary, variant.evidence);
  variant.source = render(finalist.trial.candidate, variant.evidence.source_name);
  variant.files = project_files(bench.context(), variants);
  auto known = store::is_known(variants, bench.context().architecture);
  if (!known) return std::unexpected(known.error());
  variant.evidence.reviewed = *known;
  if (incumbent.variant) variant.parent_branch = incumbent.variant->reference;
  auto added = variants.add(variant);
  if (!added) return std::unexpected(added.error());
  judged.detail = kAcceptedAs + added->reference;
  progress.on_event(Accepted{added->reference, added->evidence.against_incumbent, added->evidence.against_baseline});
  judged.variant = std::move(*added);
  judged.binary = *binary;
  return judged;
}

}  // namespace kagent::loop
