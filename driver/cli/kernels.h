// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/command.h"
#include "loop/tuning.h"
#include "store/trial_store.h"
#include "store/variant_store.h"
#include "values/kernel_request.h"
#include "values/progress.h"

namespace kagent::cli {

// The variants of a request's project. Where git refuses, the build goes on as without git, after a warning.
store::VariantStore open_variants(const KernelRequest& request);

// The trials on record beside the variants; nothing where there are none, or where they cannot be read, which is said:
// looking works where nothing can be written.
std::optional<store::TrialStore> recorded_trials(const store::VariantStore& variants);

// libkagent_runner.a: as given, or beside this program, as installed or in the build tree. Throws UserError.
std::filesystem::path find_runtime(const std::filesystem::path& given);

// What a request asks of the loop, on this machine.
loop::TuningOptions tuning_options(const KernelRequest& request, const store::VariantStore& variants,
                                   const std::filesystem::path& runtime);

// Why this machine cannot run what a kernel's build compiles, and what to do; nothing if it can.
std::optional<StageError> machine_obstacle(const build_step::KernelContext& context);

// Why a kernel cannot or should not be tuned on this machine, and what to do; nothing if it can.
std::optional<StageError> obstacle(const build_step::KernelContext& context);

}  // namespace kagent::cli
