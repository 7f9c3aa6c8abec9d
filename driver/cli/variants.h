// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/command.h"
#include "store/variant_store.h"
#include "values/kernel_request.h"

// What the commands about kept variants share: log, show, diff, rollback, promote.
namespace kagent::cli {

struct KernelOptions {
  ProjectOption project;
  BuildOption build;
  std::string kernel;
  std::string architecture;  // empty: all
  bool json = false;
};
void add_kernel_options(CLI::App& command, KernelOptions& options, bool kernel_required = true);

// The variants of the project that the options lead to. A build tree tells where the project is and what its kernels
// need now; without one the nearest folder with variants, from the given one up to the root of the repository, is it.
struct KeptVariants {
  store::VariantStore store;
  std::vector<KernelRequest> requests;  // of the build tree, if there is one
};
KeptVariants open_kept(const KernelOptions& options);

// Those with variants, or the one that was asked for. Throws UserError, with the nearest name, if there is none.
std::vector<std::string> architectures(const KeptVariants& kept, const KernelOptions& options);

// Working tree, local and remote-tracking ones. What cannot be read is added to `broken`.
std::vector<Variant> all_variants(const store::VariantStore& store, const std::string& kernel,
                                  const std::string& architecture, std::vector<std::string>* broken = nullptr);

// What a build takes for the architecture. Where no build tree says what matches: the newest that is not held back.
// `working_tree` false: what it would take without variants/ in the working tree.
std::optional<Variant> in_use(const KeptVariants& kept, const std::string& kernel, const std::string& architecture,
                              bool working_tree = true);

// By generation ("g002", "2") or by branch. Throws UserError with what there is.
Variant find_variant(const KeptVariants& kept, const std::string& kernel, const std::string& architecture,
                     const std::string& text);

// "1.42x" from the ratio of the times.
std::string speedup(double ratio);

// "g003" of a variant's parent, or "baseline".
std::string parent_name(const Evidence& evidence);

// Whether text may be coloured: standard output is a terminal, and neither NO_COLOR nor TERM=dumb is set.
bool use_colour();
std::string coloured(const std::string& text, int sgr);  // SGR code of ECMA-48; text as it is without colour

}  // namespace kagent::cli
