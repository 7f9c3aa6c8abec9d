// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "build_step/kernel_context.h"
#include "loop/verification.h"
#include "runner/runner.h"
#include "toolchain/host_toolchain.h"
#include "values/binary.h"
#include "values/candidate.h"
#include "values/progress.h"

namespace kagent::loop {

struct WorkbenchOptions {
  std::filesystem::path runtime;       // libkagent_runner.a
  std::filesystem::path state_folder;  // trials, candidate folders
  bool allow_unsandboxed = false;
};

// The compiler as the build has it for this kernel, with the folders that a candidate must not see covered.
toolchain::HostToolchainOptions host_toolchain_options(const build_step::KernelContext& context,
                                                       const WorkbenchOptions& options);

// What stays the same while one kernel is worked on for one architecture: its tools, its baseline and reference as
// binaries, and the checks under this run's secret seed.
class Workbench {
 public:
  // Compiles baseline and reference and prepares the checks. Errors say what the user has to correct.
  static Result<std::unique_ptr<Workbench>> open(const build_step::KernelContext& context,
                                                 const WorkbenchOptions& options, ProgressObserver& progress);

  const build_step::KernelContext& context() const { return context_; }
  const KernelSpec& spec() const { return context_.spec; }
  toolchain::Toolchain& toolchain() { return *toolchain_; }
  runner::Runner& runner() { return *runner_; }
  const Binary& baseline() const { return baseline_; }
  const VerificationSuite& suite() const { return *suite_; }
  const runner::RunnerLimits& limits() const { return limits_; }
  // Folder of one candidate: source, logs, binaries. Made by compile().
  std::filesystem::path folder(const Candidate& candidate) const;

  // Compiles a candidate as the build would. Safe to call from several threads.
  Result<CompileResult> compile(const Candidate& candidate);
  // The same checks under another secret seed: for a finalist, which was selected under the first.
  Result<VerificationSuite> fresh_suite(std::uint64_t seed);
  // Drops the binaries below the candidates' folders; sources and logs stay.
  void drop_binaries() const;

 private:
  Workbench() = default;
  build_step::KernelContext context_;
  std::filesystem::path folder_;
  std::unique_ptr<toolchain::Toolchain> toolchain_;
  std::unique_ptr<runner::Runner> runner_;
  runner::RunnerLimits limits_;
  Binary baseline_;
  std::optional<Binary> reference_;
  std::optional<VerificationSuite> suite_;
};

// A seed that nobody can guess.
std::uint64_t secret_seed();

}  // namespace kagent::loop
