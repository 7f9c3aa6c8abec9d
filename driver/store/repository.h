// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "store/git.h"
#include "values/error.h"

namespace kagent::store {

// The git repository that a project belongs to.
struct Repository {
  git::Repository handle;
  std::filesystem::path root;        // of the working tree, canonical
  std::filesystem::path git_folder;  // of this worktree: holds HEAD
  std::filesystem::path common;      // shared by all worktrees: holds refs and packed-refs
  std::string prefix;                // the project relative to root with a slash at the end, or empty

  git_repository* get() const { return handle.get(); }
  std::string describe() const;  // one line, for people
};

// Finds it as git does. Nothing if there is none, or if the one around the project ignores the project's folder.
// Errors: a bare repository, one of another owner, a broken .git, an extension that libgit2 does not know.
Result<std::optional<Repository>> find_repository(const std::filesystem::path& project);

}  // namespace kagent::store
