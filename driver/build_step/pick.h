// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "build_step/generated_source.h"
#include "build_step/kernel_context.h"
#include "selection/selection.h"
#include "store/variant_store.h"
#include "values/choice.h"

namespace kagent::build_step {

// What a build compiles for one kernel of one target.
struct Pick {
  KernelRequest request;
  std::vector<KernelContext> contexts;  // one an architecture
  std::vector<Choice> choices;          // in the same order
};

// Reads the project's files and looks at the variants; writes nothing.
Result<Pick> pick(const KernelRequest& request, const store::VariantStore& variants);

// What decides for one architecture, gathered for selection::choose() and selection::has_result().
Result<selection::Inputs> selection_inputs(const KernelContext& context, const store::VariantStore& variants);

// The baseline of a dispatched kernel as the build compiles it, with what other files call under another name.
RenamedBaseline dispatched_baseline(const KernelContext& context);

// Writes the generated sources, each only if its text changed, and choice.json beside them.
Result<void> write_sources(const Pick& pick);

// Make's and Ninja's list of the files whose change makes this pick stale, for `stamp`; then touches the stamp.
Result<void> write_depfile(const Pick& pick, const store::VariantStore& variants, const std::filesystem::path& depfile,
                           const std::filesystem::path& stamp);

// One line for the build's output: "softmax (ops): kagent/softmax/x86-64-v3/g002-1a2b3c4d, 1.84x" or "baseline: <why>".
std::string describe(const KernelRequest& request, const Choice& choice);

// The function of a variant that other files call.
struct ChosenFunction {
  std::string name;    // "ops::softmax", or of style "kernel" its generated launcher
  std::string symbol;  // its mangled name, as recorded with the variant; empty where none is
};
// Of the variant that the last pick chose for an architecture; nothing if it chose the baseline.
Result<std::optional<ChosenFunction>> chosen_function(const KernelRequest& request, const std::string& architecture);

}  // namespace kagent::build_step
