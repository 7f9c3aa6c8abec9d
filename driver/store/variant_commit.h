// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>

#include "store/repository.h"
#include "values/error.h"

namespace kagent::store {

// A commit that becomes a branch without touching working tree, index or HEAD.
struct VariantCommit {
  std::string branch;
  std::string message;
  std::set<std::string> paths;  // taken from disk, relative to the repository's root
  std::string folder;           // of the variant's two files, relative to the repository's root
  std::string source_name, source, evidence_json;
  std::string parent_reference;  // full name of a ref; HEAD if it is empty, or if there is no such ref
};

// Writes it, also while other processes pack refs or collect garbage (but, as for git itself, not with --prune=now). An
// error if the branch is there already, or if another branch stands in its way.
Result<void> create_branch(const Repository& repository, const VariantCommit& commit);

}  // namespace kagent::store
