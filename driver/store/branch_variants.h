// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "store/repository.h"
#include "store/variant_name.h"
#include "values/error.h"
#include "values/variant.h"

namespace kagent::store {

// A branch whose name is that of a variant.
struct VariantBranch {
  VariantName name;
  std::string reference;  // "kagent/softmax/x86-64-v3/g002-1a2b3c4d", with "origin/" before it for remote-tracking ones
  VariantPlace place = VariantPlace::local_branch;
};

// Branches of a kernel and architecture, of all where a name is "*"; local or remote-tracking. Highest generation
// first. Other branches below kagent/ are people's own and left out.
Result<std::vector<VariantBranch>> variant_branches(const Repository& repository, const std::string& kernel,
                                                    const std::string& architecture, VariantPlace place);

// The variant on a branch. `gone` is set instead of an error where the branch is not there any more.
Result<Variant> read_branch(const Repository& repository, const VariantBranch& branch, bool* gone = nullptr);

// The text of the file of this name and SHA-256 in the tree of a revision ("kagent/softmax/...", "HEAD"); nothing if
// there is none.
std::optional<std::string> find_file(const Repository& repository, const std::string& revision, const std::string& name,
                                     const std::string& hash);

}  // namespace kagent::store
