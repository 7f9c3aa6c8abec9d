// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "build_step/kernel_context.h"
#include "loop/measurement.h"
#include "loop/platform.h"
#include "loop/verification.h"
#include "values/binary.h"
#include "values/candidate.h"
#include "values/progress.h"
#include "values/variant.h"

namespace kagent::loop {

// What stays the same while one kernel is worked on for one architecture: its tools, its baseline and reference as
// binaries, and the checks under this run's secret seed.
class Workbench {
 public:
  // Compiles baseline and reference and prepares the checks. Errors say what the user has to correct.
  static Result<std::unique_ptr<Workbench>> open(const build_step::KernelContext& context,
                                                 const WorkbenchOptions& options, ProgressObserver& progress);

  const build_step::KernelContext& context() const { return context_; }
  const KernelSpec& spec() const { return context_.spec; }
  toolchain::Toolchain& toolchain() { return *platform_.toolchain; }
  runner::Runner& runner() { return *platform_.runner; }
  const Platform& platform() const { return platform_; }
  const WorkbenchOptions& options() const { return options_; }
  // What this device can do at most: measured once, then remembered.
  profiler::Ceilings ceilings() const;
  const Binary& baseline() const { return baseline_; }
  const VerificationSuite& suite() const { return *suite_; }
  // What the build makes of the kernel, as its callers see it. The same as spec() and baseline() but for kernels of
  // style "kernel", which the inner loop runs without the launcher that the build gives them.
  const KernelSpec& built_spec() const { return built_spec_; }
  const Binary& built_baseline() const { return built_baseline_; }
  const runner::RunnerLimits& limits() const { return limits_; }
  // Folder of one candidate: source, logs, binaries. Made by compile().
  std::filesystem::path folder(const Candidate& candidate) const;

  // Compiles a candidate for the inner loop: as quickly as its style allows. Safe to call from several threads.
  Result<CompileResult> compile(const Candidate& candidate);
  // Compiles a candidate exactly as the build would: what is judged and kept.
  Result<CompileResult> compile_as_built(const Candidate& candidate);
  // Device code as the build compiles it, with the places in the source noted in it (-lineinfo): to be read, not run.
  // Null: the baseline.
  Result<CompileResult> compile_with_lines(const Candidate* candidate);
  // Checks what compile_as_built() made.
  Result<VerificationReport> verify_as_built(const Binary& binary);
  // How things are measured here: limits and device filled in.
  MeasurementOptions measuring() const;
  // The checks under another secret seed, for what compile_as_built() makes: a finalist was selected under the first.
  Result<VerificationSuite> fresh_suite(std::uint64_t seed);
  // Drops the binaries below the candidates' folders; sources and logs stay.
  void drop_binaries() const;

 private:
  Workbench() = default;
  Result<void> compile_baseline();
  // The source that the build compiles for a kernel's text.
  std::string as_built_text(const std::string& text, const std::optional<Launch>& launch) const;
  Result<VerificationSuite> make_suite(const KernelSpec& spec, const Binary& baseline, std::uint64_t seed);
  build_step::KernelContext context_;
  std::filesystem::path folder_;
  Platform platform_;
  WorkbenchOptions options_;
  runner::RunnerLimits limits_;
  KernelSpec built_spec_;
  Binary baseline_, built_baseline_;
  std::optional<Binary> reference_;
  std::optional<VerificationSuite> suite_;
};

// A variant as something to compile: complete, its tunables are written in.
Candidate as_candidate(const Variant& variant);

// A seed that nobody can guess.
std::uint64_t secret_seed();

}  // namespace kagent::loop
