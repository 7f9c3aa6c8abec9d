// SPDX-License-Identifier: Apache-2.0
#include "store/repository.h"

#include <cstdlib>

#include <sys/stat.h>
#include <unistd.h>

#include "util/files.h"
#include "util/text.h"

namespace kagent::store {
namespace {

namespace fs = std::filesystem;

Result<fs::path> canonical_folder(const fs::path& path) {
  std::error_code error;
  fs::path result = fs::canonical(path, error);
  if (error) return failure("'" + path.string() + "': " + error.message());
  return result;
}

std::optional<uid_t> owner(const fs::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return std::nullopt;
  return status.st_uid;
}

// libgit2 says 'not found' for a repository that it refuses, so its reasons are looked for here: from `project`
// upwards, the first folder with a .git in it.
std::optional<StageError> why_refused(const fs::path& project) {
  for (fs::path folder = project;; folder = folder.parent_path()) {
    const fs::path dot_git = folder / ".git";
    std::error_code ignored;
    if (fs::exists(fs::symlink_status(dot_git, ignored))) {
      for (const fs::path& path : {folder, dot_git})
        if (const auto uid = owner(path); uid && *uid != ::geteuid())
          return StageError{"the git repository '" + folder.string() + "' is owned by uid " + std::to_string(*uid) +
                                ", not by you (uid " + std::to_string(::geteuid()) + ")",
                            "git config --global --add safe.directory '" + folder.string() + "'"};
      if (fs::is_regular_file(dot_git, ignored)) {
        auto text = util::read_file(dot_git);
        return StageError{"'" + dot_git.string() + "' does not lead to a repository: " +
                              util::clean(text ? text->substr(0, text->find('\n')) : text.error().message, 500),
                          "git worktree repair, or git submodule update --init"};
      }
    }
    if (folder == folder.parent_path()) return std::nullopt;
  }
}

Result<git::Repository> open(const fs::path& project) {
  git::initialise();
  git::Repository handle;
  const char* ceilings = std::getenv("GIT_CEILING_DIRECTORIES");
  const int code = git_repository_open_ext(handle.out(), project.c_str(), 0, ceilings);
  if (code == 0) return handle;
  StageError error = git::last_error("the git repository of '" + project.string() + "' cannot be opened");
  if (code == GIT_ENOTFOUND || code == GIT_EOWNER) {
    if (auto reason = why_refused(project)) return std::unexpected(*reason);
    if (code == GIT_ENOTFOUND) return git::Repository();
  }
  if (error.message.find("extension") != std::string::npos)
    error.fix =
        "libgit2 does not know this extension of the repository; git config --get-regexp '^extensions' lists them";
  return std::unexpected(error);
}

// Whether git would leave the project's folder alone: a build folder, a dependency fetched into one.
bool is_ignored(const Repository& repository) {
  if (repository.prefix.empty()) return false;
  int ignored = 0;
  if (git_ignore_path_is_ignored(&ignored, repository.get(), repository.prefix.c_str()) != 0 || ignored == 0)
    return false;
  git::Object tracked;
  const std::string folder = "HEAD:" + repository.prefix.substr(0, repository.prefix.size() - 1);
  return git_revparse_single(tracked.out(), repository.get(), folder.c_str()) != 0;
}

}  // namespace

Result<std::optional<Repository>> find_repository(const fs::path& project) {
  auto folder = canonical_folder(project);
  if (!folder) return std::unexpected(folder.error());
  auto handle = open(*folder);
  if (!handle) return std::unexpected(handle.error());
  if (!*handle) return std::nullopt;

  const char* root = git_repository_workdir(handle->get());
  if (root == nullptr)
    return failure("'" + folder->string() + "' lies in the bare git repository '" + git_repository_path(handle->get()) +
                       "', which has no working tree",
                   "work in a clone or a worktree of it: git worktree add <folder>");
  Repository result;
  auto canonical_root = canonical_folder(root);
  if (!canonical_root) return std::unexpected(canonical_root.error());
  result.root = *canonical_root;
  result.git_folder = fs::path(git_repository_path(handle->get())).parent_path();
  result.common = fs::path(git_repository_commondir(handle->get())).parent_path();
  const fs::path inside = folder->lexically_relative(result.root);
  // Inside .git, or with core.worktree somewhere else.
  if (inside.empty() || *inside.begin() == "..")
    return failure("'" + folder->string() + "' lies outside of the working tree '" + result.root.string() +
                   "' of its git repository");
  if (inside != ".") result.prefix = inside.string() + "/";
  result.handle = std::move(*handle);
  if (is_ignored(result)) return std::nullopt;
  return result;
}

std::string Repository::describe() const {
  std::string text = "git repository '" + root.string() + "'";
  if (git_repository_is_worktree(get()) == 1) text += ", worktree of '" + common.string() + "'";
  if (common.string().find("/.git/modules/") != std::string::npos) text += ", submodule";
  if (git_repository_is_shallow(get()) == 1) text += ", shallow";
  if (git_repository_head_unborn(get()) == 1)
    text += ", no commit yet";
  else if (git_repository_head_detached(get()) == 1)
    text += ", detached HEAD";
  if (!prefix.empty()) text += ", project in '" + prefix.substr(0, prefix.size() - 1) + "'";
  return text;
}

}  // namespace kagent::store
