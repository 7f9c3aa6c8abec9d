// SPDX-License-Identifier: Apache-2.0
#include "loop/acceptance.h"

#include <utility>

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

// A finalist's way to its verdict.
class Judging {
 public:
  Judging(Workbench& bench, store::VariantStore& variants, const Incumbent& incumbent, const Evaluated& finalist,
          MeasurementOptions options, ProgressObserver& progress)
      : bench_(bench),
        variants_(variants),
        incumbent_(incumbent),
        finalist_(finalist),
        options_(std::move(options)),
        progress_(progress) {}

  Result<JudgedFinalist> go() {
    for (const auto step : {&Judging::compile, &Judging::verify, &Judging::beat_incumbent, &Judging::beat_baseline,
                            &Judging::sanitize, &Judging::keep}) {
      if (auto done = (this->*step)(); !done) return std::unexpected(done.error());
      if (judged_.interrupted || judged_.outcome != Outcome::ok) break;
    }
    return std::move(judged_);
  }

 private:
  // The program that the build would make of the finalist, where the inner loop ran another one.
  Result<void> compile() {
    if (!bench_.platform().quick_toolchain) {
      binary_ = *finalist_.binary;
      return {};
    }
    auto compiled = bench_.compile_as_built(finalist_.trial.candidate);
    if (!compiled) return std::unexpected(compiled.error());
    judged_.outcome = compiled->outcome;
    judged_.detail = "as the build compiles it: " + compiled->diagnostics.substr(0, compiled->diagnostics.find('\n'));
    binary_ = std::move(compiled->binary);
    return {};
  }

  Result<void> verify() {
    auto suite = bench_.fresh_suite(secret_seed());
    if (!suite) return std::unexpected(suite.error());
    suite_.emplace(std::move(*suite));
    auto report = suite_->verify(binary_, bench_.runner());
    if (!report) return std::unexpected(report.error());
    judged_.outcome = report->outcome;
    if (report->outcome != Outcome::ok) judged_.detail = "under a fresh seed: " + report->detail;
    return {};
  }

  Result<void> beat_incumbent() { return beat(incumbent_.binary, "the incumbent"); }
  // The winner of many noisy comparisons looks better than it is: measured again, on fresh processes and contents.
  Result<void> beat_baseline() { return beat(bench_.built_baseline(), "the baseline"); }

  Result<void> beat(const Binary& opponent, const std::string& what) {
    options_.seed = secret_seed();
    options_.progress = [this, what](int pair, int pairs) { progress_.on_event(MeasuringFinalist{what, pair, pairs}); };
    auto measured = measure(bench_.runner(), bench_.built_spec(), opponent, binary_, options_);
    if (!measured) return std::unexpected(measured.error());
    judged_.interrupted = measured->interrupted;
    judged_.measured.push_back(*measured);
    if (measured->interrupted) return {};
    const Decision& decision = measured->decision;
    judged_.outcome = measured->outcome != Outcome::ok ? measured->outcome : outcome_of(decision.comparison);
    judged_.detail = measured->outcome != Outcome::ok ? measured->detail : decision.reason;
    if (measured->outcome == Outcome::ok && !decision.accepted) {
      if (judged_.outcome == Outcome::ok) judged_.outcome = Outcome::ambiguous;
      progress_.on_event(Rejected{decision});
    }
    if (judged_.outcome != Outcome::ok) judged_.detail = "against " + what + ": " + judged_.detail;
    return {};
  }

  // Last, since few come so far. On the device's lane: it would disturb what others measure.
  Result<void> sanitize() {
    const auto& gpu = bench_.platform().gpu;
    if (!gpu || suite_->checks().empty()) return {};
    SanitizerCheckOptions options;
    options.runner.device = *gpu;
    options.runner.kernel_runner = bench_.platform().kernel_runner;
    options.how.sanitizer = runner::find_sanitizer();
    options.how.allow_unsandboxed = bench_.options().allow_unsandboxed;
    options.interrupted = options_.interrupted;
    const auto lane = enter_lane(options_, "compute-sanitizer of " + bench_.spec().kernel);
    const Check& check = check_for_sanitizer(suite_->checks());
    sanitized_ = check_under_sanitizer({binary_, bench_.built_baseline(), bench_.built_spec().parameters, check.inputs},
                                       options, progress_);
    judged_.interrupted = sanitized_.interrupted;
    judged_.outcome = sanitized_.outcome;
    if (sanitized_.outcome != Outcome::ok) judged_.detail = sanitized_.detail;
    return {};
  }

  Result<void> keep() {
    store::NewVariant variant;
    variant.evidence = evidence_of(bench_, incumbent_, finalist_, binary_, judged_.measured.front().decision,
                                   judged_.measured.back().decision);
    variant.evidence.sanitizer = sanitized_.tools;
    add_counters(bench_, incumbent_, finalist_, binary_, variant.evidence);
    variant.source = render(finalist_.trial.candidate, variant.evidence.source_name);
    variant.files = project_files(bench_.context(), variants_);
    auto known = store::is_known(variants_, bench_.context().architecture);
    if (!known) return std::unexpected(known.error());
    variant.evidence.reviewed = *known;
    if (incumbent_.variant) variant.parent_branch = incumbent_.variant->reference;
    auto added = variants_.add(variant);
    if (!added) return std::unexpected(added.error());
    judged_.detail = kAcceptedAs + added->reference;
    progress_.on_event(Accepted{added->reference, added->evidence.against_incumbent, added->evidence.against_baseline});
    judged_.variant = std::move(*added);
    judged_.binary = binary_;
    return {};
  }

  Workbench& bench_;
  store::VariantStore& variants_;
  const Incumbent& incumbent_;
  const Evaluated& finalist_;
  MeasurementOptions options_;
  ProgressObserver& progress_;
  JudgedFinalist judged_;
  Binary binary_;
  std::optional<VerificationSuite> suite_;  // under a seed that nothing was compiled for
  SanitizerReport sanitized_;
};

}  // namespace

void profile(Workbench& bench, const Incumbent& incumbent) {
  std::optional<Candidate> candidate;
  if (incumbent.variant) candidate = as_candidate(*incumbent.variant);
  profile(bench, incumbent.binary, incumbent.source_hash(), candidate ? &*candidate : nullptr);
}

Result<JudgedFinalist> judge_finalist(Workbench& bench, store::VariantStore& variants, const Incumbent& incumbent,
                                      const Evaluated& finalist, MeasurementOptions options,
                                      ProgressObserver& progress) {
  return Judging(bench, variants, incumbent, finalist, std::move(options), progress).go();
}

}  // namespace kagent::loop
