// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>

#include <git2.h>

#include "values/error.h"

// Owning handles, errors and retries for libgit2. For the sources of this folder only.
namespace kagent::store::git {

template <auto Free>
struct Freed {
  template <class T>
  void operator()(T* handle) const {
    Free(handle);
  }
};

using Repository = std::unique_ptr<git_repository, Freed<git_repository_free>>;
using Reference = std::unique_ptr<git_reference, Freed<git_reference_free>>;
using ReferenceIterator = std::unique_ptr<git_reference_iterator, Freed<git_reference_iterator_free>>;
using Object = std::unique_ptr<git_object, Freed<git_object_free>>;
using Commit = std::unique_ptr<git_commit, Freed<git_commit_free>>;
using Tree = std::unique_ptr<git_tree, Freed<git_tree_free>>;
using TreeEntry = std::unique_ptr<git_tree_entry, Freed<git_tree_entry_free>>;
using Blob = std::unique_ptr<git_blob, Freed<git_blob_free>>;
using Odb = std::unique_ptr<git_odb, Freed<git_odb_free>>;
using Config = std::unique_ptr<git_config, Freed<git_config_free>>;
using Signature = std::unique_ptr<git_signature, Freed<git_signature_free>>;

// For calls of the form int f(T** out, ...): owned(handle) is the `out` argument, filled when the call returns.
template <class Handle>
class Out {
 public:
  explicit Out(Handle& handle) : handle_(handle) {}
  ~Out() { handle_.reset(raw_); }
  Out(const Out&) = delete;
  Out& operator=(const Out&) = delete;
  operator typename Handle::element_type **() { return &raw_; }

 private:
  Handle& handle_;
  typename Handle::element_type* raw_ = nullptr;
};

template <class Handle>
Out<Handle> out(Handle& handle) {
  return Out<Handle>(handle);
}

// The last error of libgit2 in this thread, with what was being done.
StageError last_error(const std::string& what);
std::unexpected<StageError> error(const std::string& what);

// libgit2 never waits for a lock that another process holds, and packing refs moves files away under it. Calls until
// the result is another than that, with growing random pauses of 5 to 200 ms, for 5 s in all.
int retried(const std::function<int()>& call);

// Starts libgit2 once a process.
void initialise();

std::string hex(const git_oid& id);

}  // namespace kagent::store::git
