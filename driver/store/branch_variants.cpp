// SPDX-License-Identifier: Apache-2.0
#include "store/branch_variants.h"

#include <algorithm>
#include <array>
#include <optional>
#include <tuple>

#include <sys/stat.h>

#include "store/evidence_json.h"
#include "store/folder_variants.h"
#include "util/hash.h"

namespace kagent::store {
namespace {

constexpr std::string_view kLocal = "refs/heads/";
constexpr std::string_view kRemote = "refs/remotes/";

std::string full_name(const VariantBranch& branch) {
  return std::string(branch.place == VariantPlace::remote_branch ? kRemote : kLocal) + branch.reference;
}

// Tells whether packed-refs was replaced meanwhile.
using FileState = std::array<std::int64_t, 4>;
FileState state_of(const std::filesystem::path& file) {
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0) return {};
  return {static_cast<std::int64_t>(status.st_ino), status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec};
}

Result<std::vector<std::string>> reference_names(git_repository* repository, const std::string& glob) {
  git::ReferenceIterator iterator;
  if (git_reference_iterator_glob_new(iterator.out(), repository, glob.c_str()) != 0)
    return git::error("cannot list the branches " + glob);
  std::vector<std::string> names;
  const char* name = nullptr;
  int code = 0;
  while ((code = git_reference_next_name(&name, iterator.get())) == 0) names.emplace_back(name);
  if (code != GIT_ITEROVER) return git::error("cannot list the branches " + glob);
  return names;
}

// "origin/kagent/softmax/..." -> "kagent/softmax/...": the last four parts, since a remote's name may hold slashes.
std::string_view without_remote(std::string_view reference) {
  auto at = reference.size();
  for (int parts = 0; parts < 4; ++parts) {
    at = reference.rfind('/', at - 1);
    if (at == std::string_view::npos || at == 0) return {};
  }
  return reference.substr(at + 1);
}

std::optional<VariantBranch> as_variant(std::string_view full, VariantPlace place) {
  const bool remote = place == VariantPlace::remote_branch;
  const std::string_view reference = full.substr((remote ? kRemote : kLocal).size());
  const auto name = parse_variant_name(remote ? without_remote(reference) : reference);
  if (!name) return std::nullopt;
  return VariantBranch{*name, std::string(reference), place};
}

// The text of a blob of at most `limit` bytes. Sizes are asked for before anything is read.
Result<std::string> blob_text(const Repository& repository, const git_tree* folder, const std::string& name,
                              std::size_t limit) {
  const git_tree_entry* entry = git_tree_entry_byname(folder, name.c_str());
  if (entry == nullptr) return failure("has no '" + name + "'");
  const git_filemode_t mode = git_tree_entry_filemode(entry);
  if (mode != GIT_FILEMODE_BLOB && mode != GIT_FILEMODE_BLOB_EXECUTABLE)
    return failure("'" + name + "' is not a regular file");
  git::Odb odb;
  std::size_t size = 0;
  git_object_t type = GIT_OBJECT_ANY;
  if (git_repository_odb(odb.out(), repository.get()) != 0 ||
      git_odb_read_header(&size, &type, odb.get(), git_tree_entry_id(entry)) != 0)
    return git::error("cannot read '" + name + "'");
  if (size > limit) return failure("'" + name + "' is larger than " + std::to_string(limit >> 20) + " MiB");
  git::Blob blob;
  if (git_blob_lookup(blob.out(), repository.get(), git_tree_entry_id(entry)) != 0)
    return git::error("cannot read '" + name + "'");
  return std::string(static_cast<const char*>(git_blob_rawcontent(blob.get())), git_blob_rawsize(blob.get()));
}

Result<git::Tree> variant_folder(const Repository& repository, const VariantBranch& branch, bool* gone) {
  git::Reference reference;
  const int code = git_reference_lookup(reference.out(), repository.get(), full_name(branch).c_str());
  if (code == GIT_ENOTFOUND) {
    if (gone != nullptr) *gone = true;
    return failure("there is no branch '" + branch.reference + "'");
  }
  git::Object object;
  if (code != 0 || git_reference_peel(object.out(), reference.get(), GIT_OBJECT_TREE) != 0)
    return git::error("cannot read its commit");
  const std::string path = repository.prefix + "variants/" + branch.name.kernel + "/" + branch.name.architecture;
  git::Object folder;
  if (git_object_lookup_bypath(folder.out(), object.get(), path.c_str(), GIT_OBJECT_TREE) != 0)
    return failure("has no folder '" + path + "' (is it of another project in this repository?)");
  git::Tree tree;
  if (git_tree_lookup(tree.out(), repository.get(), git_object_id(folder.get())) != 0)
    return git::error("cannot read '" + path + "'");
  return tree;
}

}  // namespace

Result<std::vector<VariantBranch>> variant_branches(const Repository& repository, const std::string& kernel,
                                                    const std::string& architecture, VariantPlace place) {
  const std::string tail = "kagent/" + kernel + "/" + architecture + "/*";
  const std::string glob =
      place == VariantPlace::remote_branch ? std::string(kRemote) + "*/" + tail : std::string(kLocal) + tail;
  // A branch that is moved into packed-refs after that was read and before its own file is looked for would be missed.
  constexpr int kAttempts = 10;
  Result<std::vector<std::string>> names;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const FileState before = state_of(repository.common / "packed-refs");
    names = reference_names(repository.get(), glob);
    if (state_of(repository.common / "packed-refs") == before) break;
  }
  if (!names) return std::unexpected(names.error());
  std::vector<VariantBranch> branches;
  for (const std::string& name : *names)
    if (auto branch = as_variant(name, place)) branches.push_back(std::move(*branch));
  std::sort(branches.begin(), branches.end(), [](const VariantBranch& a, const VariantBranch& b) {
    return std::tie(b.name.generation, a.reference) < std::tie(a.name.generation, b.reference);
  });
  return branches;
}

Result<Variant> read_branch(const Repository& repository, const VariantBranch& branch, bool* gone) {
  auto folder = variant_folder(repository, branch, gone);
  if (!folder) return std::unexpected(folder.error());
  auto json = blob_text(repository, folder->get(), "variant.json", kLargestEvidenceBytes);
  if (!json) return std::unexpected(json.error());
  auto evidence = evidence_from_json(*json);
  if (!evidence) return std::unexpected(evidence.error());
  Variant variant{branch.place, branch.reference, std::move(*evidence), {}};
  if (std::string found = flaw(variant, branch.name.kernel, branch.name.architecture); !found.empty())
    return failure(found);
  if (variant.evidence.generation != branch.name.generation ||
      !variant.evidence.source_hash.starts_with(branch.name.hash8))
    return failure("variant.json is of another variant than the branch's name says");
  auto source = blob_text(repository, folder->get(), variant.evidence.source_name, kLargestSourceBytes);
  if (!source) return std::unexpected(source.error());
  variant.source = std::move(*source);
  return variant;
}

std::optional<std::string> find_file(const Repository& repository, const std::string& revision, const std::string& name,
                                     const std::string& hash) {
  git::Object object;
  if (git_revparse_single(object.out(), repository.get(), (revision + "^{tree}").c_str()) != 0) return std::nullopt;
  git::Tree tree;
  if (git_tree_lookup(tree.out(), repository.get(), git_object_id(object.get())) != 0) return std::nullopt;
  struct Search {
    git_repository* repository;
    const std::string& name;
    const std::string& hash;
    std::optional<std::string> found;
  } search{repository.get(), name, hash, {}};
  const auto look = [](const char*, const git_tree_entry* entry, void* payload) {
    auto& here = *static_cast<Search*>(payload);
    if (git_tree_entry_type(entry) != GIT_OBJECT_BLOB || here.name != git_tree_entry_name(entry)) return 0;
    git::Blob blob;
    if (git_blob_lookup(blob.out(), here.repository, git_tree_entry_id(entry)) != 0) return 0;
    std::string text(static_cast<const char*>(git_blob_rawcontent(blob.get())), git_blob_rawsize(blob.get()));
    if (util::sha256(text) != here.hash) return 0;
    here.found = std::move(text);
    return -1;  // ends the walk
  };
  git_tree_walk(tree.get(), GIT_TREEWALK_PRE, look, &search);
  return std::move(search.found);
}

}  // namespace kagent::store
