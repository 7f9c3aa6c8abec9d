// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "build_step/kernel_context.h"
#include "loop/platform.h"
#include "loop/verification.h"
#include "values/binary.h"
#include "values/candidate.h"
#include "values/progress.h"

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
  const Binary& baseline() const { return baseline_; }
  const VerificationSuite& suite() const { return *suite_; }
  const runner::RunnerLimits& limits() const { return limits_; }
  // Folder of one candidate: source, logs, binaries. Made by compile().
  std::filesystem::path folder(const Candidate& candidate) const;

  // Compiles a candidate for the inner loop: as quickly as its style allows. Safe to call from several threads.
  Result<CompileResult> compile(const Candidate& candidate);
  // Compiles a candidate exactly as the build would: what is judged and kept.
  Result<CompileResult> compile_as_built(const Candidate& candidate);
  // The same checks under another secret seed: for a finalist, which was selected under the first.
  Result<VerificationSuite> fresh_suite(std::uint64_t seed);
  // Drops the binaries below the candidates' folders; sources and logs stay.
  void drop_binaries() const;

 private:
  Workbench() = default;
  build_step::KernelContext context_;
  std::filesystem::path folder_;
  Platform platform_;
  runner::RunnerLimits limits_;
  Binary baseline_;
  std::optional<Binary> reference_;
  std::optional<VerificationSuite> suite_;
};

// A seed that nobody can guess.
std::uint64_t secret_seed();

}  // namespace kagent::loop
