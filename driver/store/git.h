// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <utility>

#include <git2.h>

#include "values/error.h"

// Owning handles, errors and retries for libgit2. For the sources of this folder only.
namespace kagent::store::git {

// Owns a handle of libgit2. The standard's out_ptr would fill a unique_ptr only at the end of the whole expression,
// which makes `f(out(a)) != 0 || g(a.get()) != 0` a crash.
template <class T, auto Free>
class Handle {
 public:
  Handle() = default;
  Handle(Handle&& other) noexcept : raw_(std::exchange(other.raw_, nullptr)) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(raw_, other.raw_);
    return *this;
  }
  ~Handle() { reset(); }

  T* get() const { return raw_; }
  explicit operator bool() const { return raw_ != nullptr; }
  // Where a call may put a new handle; the old one is freed.
  T** out() {
    reset();
    return &raw_;
  }

 private:
  void reset() {
    if (raw_ != nullptr) Free(std::exchange(raw_, nullptr));
  }
  T* raw_ = nullptr;
};

using Repository = Handle<git_repository, git_repository_free>;
using Reference = Handle<git_reference, git_reference_free>;
using ReferenceIterator = Handle<git_reference_iterator, git_reference_iterator_free>;
using Object = Handle<git_object, git_object_free>;
using Commit = Handle<git_commit, git_commit_free>;
using Tree = Handle<git_tree, git_tree_free>;
using TreeBuilder = Handle<git_treebuilder, git_treebuilder_free>;
using TreeEntry = Handle<git_tree_entry, git_tree_entry_free>;
using Blob = Handle<git_blob, git_blob_free>;
using Odb = Handle<git_odb, git_odb_free>;
using Config = Handle<git_config, git_config_free>;
using Patch = Handle<git_patch, git_patch_free>;
using Signature = Handle<git_signature, git_signature_free>;

// The last error of libgit2 in this thread, with what was being done.
StageError last_error(const std::string& what);
std::unexpected<StageError> error(const std::string& what);

// libgit2 never waits for a lock that another process holds, and packing refs moves files away under it. Calls until
// the result is another than that, with growing random pauses of 5 to 200 ms, for 5 s in all.
int retried(const std::function<int()>& call);

// Starts libgit2 once a process.
void initialise();

}  // namespace kagent::store::git
