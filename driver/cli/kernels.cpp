// SPDX-License-Identifier: Apache-2.0
#include "cli/kernels.h"

#include <algorithm>
#include <cstdlib>

#include <fmt/core.h>

#include "cli/devices.h"
#include "toolchain/host_toolchain.h"
#include "util/sandbox.h"
#include "util/text.h"

namespace kagent::cli {

namespace fs = std::filesystem;

store::VariantStore open_variants(const KernelRequest& request) {
  auto variants = store::VariantStore::open(request.project_dir, request.build_dir);
  if (variants) return std::move(*variants);
  fmt::print(stderr, "kagent: {}: {}\n  fix: {}\n  until then variants come from variants/ alone\n", request.kernel,
             util::clean(variants.error().message), util::clean(variants.error().fix));
  return require(store::VariantStore::open_without_git(request.project_dir, request.build_dir));
}

std::optional<store::TrialStore> recorded_trials(const store::VariantStore& variants) {
  const fs::path file = variants.state_folder() / "trials.sqlite";
  std::error_code error;
  if (!fs::exists(file, error)) return std::nullopt;
  auto trials = store::TrialStore::open(file);
  if (trials) return std::move(*trials);
  fmt::print(stderr, "kagent: {}\n", util::clean(trials.error().message));
  if (!trials.error().fix.empty()) fmt::print(stderr, "  fix: {}\n", util::clean(trials.error().fix));
  fmt::print(stderr, "  until then nothing is told of trials\n");
  return std::nullopt;
}

fs::path find_runtime(const fs::path& given) {
  if (!given.empty()) {
    if (fs::exists(given)) return fs::absolute(given);
    throw UserError("no runtime library " + given.string(), "leave --runtime out, or build the target kagent_runtime");
  }
  const fs::path folder = fs::read_symlink("/proc/self/exe").parent_path();
  const fs::path installed = folder.parent_path() / "lib/kagent/libkagent_runner.a";
  const fs::path built = folder.parent_path() / "runner/libkagent_runner.a";
  for (const fs::path& path : {installed, built})
    if (fs::exists(path)) return path;
  throw UserError("libkagent_runner.a is neither at " + installed.string() + " nor at " + built.string(),
                  "install kagent as a whole, or name the file with --runtime");
}

loop::TuningOptions tuning_options(const KernelRequest& request, const store::VariantStore& variants,
                                   const fs::path& runtime) {
  loop::TuningOptions options;
  options.bench.runtime = runtime;
  options.bench.state_folder = variants.state_folder();
  options.bench.allow_unsandboxed = request.allow_unsandboxed;
  options.rounds = request.rounds;
  options.width = request.width;
  options.time_budget = request.time_budget;
  options.min_gain = request.min_gain;
  options.proposer.name = request.proposer;
  options.proposer.settings = request.model_settings;
  options.proposer.project = request.project_dir;
  if (const char* replay = std::getenv("KAGENT_REPLAY")) options.proposer.replay = replay;
  return options;
}

std::optional<StageError> machine_obstacle(const build_step::KernelContext& context) {
  if (context.request.language == Language::cuda) return device_obstacle(context.architecture, devices());
  if (toolchain::machine_runs(context.architecture)) return std::nullopt;
  return StageError{"this machine does not run " + context.architecture,
                    "go to a machine that does; builds here pick what was tuned there"};
}

std::optional<StageError> obstacle(const build_step::KernelContext& context) {
  const std::string& proposer = context.request.proposer;
  if (context.spec.tunables.empty() && (proposer == "search" || proposer == "agent"))
    return StageError{"the spec has no tunables, and no proposer is configured that writes code within a build",
                      "declare \"tunables\" in kernel.json, or name a proposer of code (PROPOSER, --proposer)"};
  if (!context.command.optimised())
    return StageError{"this build compiles without optimisation", "set CMAKE_BUILD_TYPE=Release to tune"};
  if (context.request.language == Language::cuda)
    if (auto why = build_step::architecture_conflict(context)) return why;
  if (auto why = machine_obstacle(context)) return why;
  if (!util::sandbox_state().available && !context.request.allow_unsandboxed)
    return StageError{"no sandbox (" + util::sandbox_state().description + ")",
                      "install bubblewrap, or set KAGENT_ALLOW_UNSANDBOXED=ON to run candidates without"};
  return std::nullopt;
}

}  // namespace kagent::cli
