// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "toolchain/compile_command.h"
#include "values/error.h"
#include "values/kernel_key.h"
#include "values/kernel_request.h"
#include "values/kernel_spec.h"

namespace kagent::build_step {

// Everything that the project's files say about one architecture of one kernel, read once.
struct KernelContext {
  KernelRequest request;
  std::string architecture;         // as filed: a level, never "native"
  std::filesystem::path generated;  // the source that the build compiles for it
  KernelSpec spec;
  std::string source_text;                     // the baseline
  toolchain::CompileCommand command;           // how the build compiles `generated`
  std::vector<std::filesystem::path> headers;  // project headers that the baseline includes
  KernelKey key;
};

// The architecture that an output is filed under: the machine's level for "native".
std::string filed_architecture(const BuildOutput& output);

// Why no variant for this architecture can be made of what kernel.json asks: "architecture_specific" needs code such as
// sm_90a, for one architecture alone.
std::optional<StageError> architecture_conflict(const KernelContext& context);

// Text with the folders of this checkout written as placeholders: the same on every machine.
std::string portable_text(std::string text, const KernelRequest& request);

// Reads the context of one output. Errors: what spec, source, compile database or preprocessor say.
Result<KernelContext> load_context(const KernelRequest& request, const BuildOutput& output);

}  // namespace kagent::build_step
