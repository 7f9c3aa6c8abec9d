// SPDX-License-Identifier: Apache-2.0
#include "store/variant_commit.h"

#include <optional>
#include <vector>

#include "store/evidence_json.h"
#include "store/project_files.h"
#include "store/signature.h"
#include "util/hash.h"

namespace kagent::store {
namespace {

constexpr std::size_t kLargestPointerBytes = 1024;

// Writes the objects of one commit.
class Writer {
 public:
  Writer(const Repository& repository, const VariantCommit& commit) : repository_(repository), commit_(commit) {}

  Result<git_oid> write() {
    git_failed_ = false;
    updates_.clear();
    removals_.clear();
    if (!tree_)
      if (auto done = load_head(); !done) return std::unexpected(done.error());
    for (const std::string& path : commit_.paths)
      if (auto done = add_from_disk(path); !done) return std::unexpected(done.error());
    drop_renamed_source();
    if (auto done = add_text(commit_.source_name, commit_.source); !done) return std::unexpected(done.error());
    if (auto done = add_text("variant.json", commit_.evidence_json); !done) return std::unexpected(done.error());
    auto tree = write_tree();
    if (!tree) return std::unexpected(tree.error());
    return write_commit(*tree);
  }

  // Whether the last failure came from git, and so perhaps from what another process did meanwhile.
  bool may_succeed_later() const { return git_failed_; }

 private:
  std::unexpected<StageError> git_failure(const std::string& what) {
    git_failed_ = true;
    return git::error(what);
  }

  git_repository* repository() const { return repository_.get(); }

  Result<void> load_head() {
    author_ = signature(repository(), "AUTHOR");
    committer_ = signature(repository(), "COMMITTER");
    if (!author_ || !committer_) return git_failure("cannot make a signature");
    git::Object object;
    const int code = git_revparse_single(object.out(), repository(), "HEAD^{commit}");
    if (code == 0 && git_commit_lookup(head_.out(), repository(), git_object_id(object.get())) == 0) {
      if (git_commit_tree(tree_.out(), head_.get()) != 0) return git_failure("cannot read HEAD's tree");
      return {};
    }
    if (git_repository_head_unborn(repository()) != 1) return git_failure("cannot read HEAD");
    git::TreeBuilder builder;
    git_oid empty;
    int failed = git_treebuilder_new(builder.out(), repository(), nullptr);
    if (failed == 0) failed = git_treebuilder_write(&empty, builder.get());
    if (failed != 0 || git_tree_lookup(tree_.out(), repository(), &empty) != 0)
      return git_failure("cannot write an empty tree");
    return {};
  }

  git::TreeEntry in_head(const std::string& path) const {
    git::TreeEntry entry;
    if (git_tree_entry_bypath(entry.out(), tree_.get(), path.c_str()) != 0) return {};
    return entry;
  }

  std::optional<std::string> head_text(const std::string& path, std::size_t limit) const {
    git::TreeEntry entry = in_head(path);
    git::Blob blob;
    if (!entry || git_tree_entry_type(entry.get()) != GIT_OBJECT_BLOB ||
        git_blob_lookup(blob.out(), repository(), git_tree_entry_id(entry.get())) != 0 ||
        git_blob_rawsize(blob.get()) > limit)
      return std::nullopt;
    return std::string(static_cast<const char*>(git_blob_rawcontent(blob.get())), git_blob_rawsize(blob.get()));
  }

  // Git LFS keeps a pointer in the tree; where it stands for just this file, it is the right entry.
  bool is_lfs_file(const std::string& path) const {
    const auto pointer = head_text(path, kLargestPointerBytes);
    if (!pointer || !is_lfs_pointer(*pointer)) return false;
    const auto hash = util::sha256_file(repository_.root / path);
    return hash && *hash == lfs_hash(*pointer);
  }

  Result<void> add_from_disk(const std::string& path) {
    if (is_lfs_file(path)) return {};
    git_oid id;
    // Applies the line endings of .gitattributes, and makes a blob of a link's target.
    if (git_blob_create_from_workdir(&id, repository(), path.c_str()) != 0)
      return git_failure("cannot put '" + path + "' into git");
    std::error_code error;
    const auto status = std::filesystem::symlink_status(repository_.root / path, error);
    const bool executable = (status.permissions() & std::filesystem::perms::owner_exec) != std::filesystem::perms::none;
    const git_filemode_t mode = std::filesystem::is_symlink(status) ? GIT_FILEMODE_LINK
                                : executable                        ? GIT_FILEMODE_BLOB_EXECUTABLE
                                                                    : GIT_FILEMODE_BLOB;
    return add(path, id, mode);
  }

  Result<void> add_text(const std::string& name, const std::string& text) {
    git_oid id;
    if (git_blob_create_from_buffer(&id, repository(), text.data(), text.size()) != 0)
      return git_failure("cannot write '" + name + "' into git");
    return add(commit_.folder + "/" + name, id, GIT_FILEMODE_BLOB);
  }

  // A file where HEAD has a folder, or the reverse, has to go first.
  Result<void> add(const std::string& path, const git_oid& id, git_filemode_t mode) {
    for (auto slash = path.find('/'); slash != std::string::npos; slash = path.find('/', slash + 1)) {
      const std::string folder = path.substr(0, slash);
      git::TreeEntry entry = in_head(folder);
      if (!entry) break;
      if (git_tree_entry_type(entry.get()) == GIT_OBJECT_COMMIT)
        return failure("'" + path + "' lies in the submodule '" + folder + "'", "git submodule update --init");
      if (git_tree_entry_type(entry.get()) == GIT_OBJECT_BLOB) removals_.insert(folder);
    }
    if (git::TreeEntry entry = in_head(path); entry && git_tree_entry_type(entry.get()) == GIT_OBJECT_TREE)
      removals_.insert(path);
    updates_.push_back({path, id, mode});
    return {};
  }

  // HEAD may hold an older generation whose source had another name.
  void drop_renamed_source() {
    const auto text = head_text(commit_.folder + "/variant.json", kLargestEvidenceBytes);
    const auto old = text ? evidence_from_json(*text) : Result<Evidence>(failure(""));
    if (!old || old->source_name == commit_.source_name || old->source_name.find('/') != std::string::npos) return;
    const std::string path = commit_.folder + "/" + old->source_name;
    if (git::TreeEntry entry = in_head(path); entry && git_tree_entry_type(entry.get()) == GIT_OBJECT_BLOB)
      removals_.insert(path);
  }

  Result<git::Tree> updated(git_tree* tree, const std::vector<git_tree_update>& updates) {
    git_oid id;
    git::Tree result;
    if (git_tree_create_updated(&id, repository(), tree, updates.size(), updates.data()) != 0 ||
        git_tree_lookup(result.out(), repository(), &id) != 0)
      return git_failure("cannot write the tree of '" + commit_.branch + "'");
    return result;
  }

  Result<git::Tree> write_tree() {
    std::vector<git_tree_update> removals, updates;
    for (const std::string& path : removals_)
      removals.push_back({GIT_TREE_UPDATE_REMOVE, {}, GIT_FILEMODE_BLOB, path.c_str()});
    for (const Update& update : updates_)
      updates.push_back({GIT_TREE_UPDATE_UPSERT, update.id, update.mode, update.path.c_str()});
    git::Tree cleared;
    if (!removals.empty()) {
      auto done = updated(tree_.get(), removals);
      if (!done) return done;
      cleared = std::move(*done);
    }
    return updated(cleared ? cleared.get() : tree_.get(), updates);
  }

  Result<git_oid> write_commit(const git::Tree& tree) {
    git::Commit parent;
    git::Object object;
    if (!commit_.parent_reference.empty() &&
        git_revparse_single(object.out(), repository(), (commit_.parent_reference + "^{commit}").c_str()) == 0)
      git_commit_lookup(parent.out(), repository(), git_object_id(object.get()));
    const git_commit* parents[] = {parent ? parent.get() : head_.get()};
    git_oid id;
    if (git_commit_create(&id, repository(), nullptr, author_.get(), committer_.get(), nullptr, commit_.message.c_str(),
                          tree.get(), parents[0] != nullptr ? 1 : 0, parents) != 0)
      return git_failure("cannot write the commit of '" + commit_.branch + "'");
    return id;
  }

  struct Update {
    std::string path;
    git_oid id;
    git_filemode_t mode;
  };

  const Repository& repository_;
  const VariantCommit& commit_;
  // Read once, so that writing again gives the same objects.
  git::Commit head_;
  git::Tree tree_;  // HEAD's, or an empty one
  git::Signature author_, committer_;
  std::vector<Update> updates_;
  std::set<std::string> removals_;
  bool git_failed_ = false;
};

// Git keeps branches as files, so none can be a folder of another.
Result<void> check_way(const Repository& repository, const std::string& branch) {
  for (auto slash = branch.find('/'); slash != std::string::npos; slash = branch.find('/', slash + 1)) {
    const std::string obstacle = branch.substr(0, slash);
    git::Reference reference;
    if (git_reference_lookup(reference.out(), repository.get(), ("refs/heads/" + obstacle).c_str()) == 0)
      return failure("the branch '" + obstacle + "' is in the way of '" + branch + "': git cannot have both",
                     "git branch -m " + obstacle + " " + obstacle + "-renamed");
  }
  return {};
}

// `lost` is set where git did not find the commit that the branch is to point to.
Result<void> create_reference(const Repository& repository, const std::string& branch, const git_oid& commit,
                              bool& lost) {
  const std::string name = "refs/heads/" + branch;
  const int code = git::retried([&] {
    git::Reference reference;
    return git_reference_create(reference.out(), repository.get(), name.c_str(), &commit, 0,
                                "kagent: variant accepted");
  });
  if (code == 0) return {};
  lost = code == GIT_ERROR && git_error_last() != nullptr && git_error_last()->klass == GIT_ERROR_REFERENCE;
  // Saved before anything else asks git.
  StageError error = git::last_error("cannot create the branch '" + branch + "'");
  if (auto way = check_way(repository, branch); !way) return way;
  if (code == GIT_ELOCKED) error.fix = "if no git command is running, delete the .lock file that it left in .git";
  return std::unexpected(error);
}

// A running `git gc` deletes folders of objects that became empty, also the one that is just being written to.
Result<git_oid> write_objects(const Repository& repository, const VariantCommit& commit) {
  Writer writer(repository, commit);
  Result<git_oid> id;
  git::retried([&] {
    id = writer.write();
    return static_cast<int>(!id && writer.may_succeed_later() ? GIT_ELOCKED : GIT_OK);
  });
  return id;
}

}  // namespace

Result<void> create_branch(const Repository& repository, const VariantCommit& commit) {
  if (auto way = check_way(repository, commit.branch); !way) return way;
  // A running `git gc` moves objects between files while they are looked for; writing them again finds them, or makes
  // them anew.
  constexpr int kAttempts = 8;
  for (int attempt = 1;; ++attempt) {
    auto id = write_objects(repository, commit);
    if (!id) return std::unexpected(id.error());
    bool lost = false;
    auto created = create_reference(repository, commit.branch, *id, lost);
    if (created || !lost || attempt == kAttempts) return created;
    git::Odb objects;
    if (git_repository_odb(objects.out(), repository.get()) == 0) git_odb_refresh(objects.get());
  }
}

}  // namespace kagent::store
