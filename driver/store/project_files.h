// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "store/repository.h"
#include "values/error.h"

namespace kagent::store {

// Where a file lies in the repository's working tree: paths relative to its root, with '/' between the parts. A
// symbolic link is kept as a link, as git does, and what it leads to inside the repository is there beside it.
//
// Left out, because git leaves them alone too: what belongs to a submodule (its commit is in the tree), and what is
// ignored and not tracked. Errors: a file outside the repository, a missing one, a Git LFS pointer in place of the
// data.
Result<std::set<std::string>> tree_paths(const Repository& repository, const std::vector<std::filesystem::path>& files);

// Whether the text is what Git LFS leaves in place of a file that it did not fetch.
bool is_lfs_pointer(std::string_view text);
// The SHA-256 of the file that the pointer stands for; empty if there is none in it.
std::string lfs_hash(std::string_view pointer);

}  // namespace kagent::store
