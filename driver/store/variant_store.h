// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "store/evidence_json.h"
#include "values/error.h"
#include "values/hold.h"
#include "values/variant.h"

namespace kagent::store {

// A file that goes into the variant's commit as it is on disk.
struct ProjectFile {
  std::filesystem::path path;  // absolute, inside the repository
};

struct NewVariant {
  Evidence evidence;               // generation is given by the store
  std::string source;              // text of the variant file
  std::vector<ProjectFile> files;  // the kernel's source, project headers and golden folder
  // Variant::reference, at any place, of the generation that it beat; none: the baseline. Its commit, where this
  // repository has it, becomes the parent, else HEAD.
  std::optional<std::string> parent_branch;
};

// The variants of one project: branches kagent/<kernel>/<arch>/g<NNN>-<hash8> of its git repository, and files below
// variants/ in its working tree. Never touches working tree, index or HEAD, except promote(), which writes variants/.
class VariantStore {
 public:
  // Where `project` (a folder) is versioned. Without git, or in a folder that the repository around it ignores, only
  // variants/ in the working tree is seen, and accepted variants are written into the state folder's `variants/`
  // instead of a branch and listed as local ones.
  // Errors name what git refuses and the fix (foreign owner: safe.directory; unsupported extension; ...).
  static Result<VariantStore> open(const std::filesystem::path& project, const std::filesystem::path& build_folder);
  // The same as if there was no git: for a build that goes on, after a warning, where open() failed.
  static Result<VariantStore> open_without_git(const std::filesystem::path& project,
                                               const std::filesystem::path& build_folder);
  VariantStore(VariantStore&&) noexcept;
  VariantStore& operator=(VariantStore&&) noexcept;
  ~VariantStore();

  bool has_git() const;
  std::string description() const;                // for doctor: which repository, worktree, shallow, detached, ...
  std::filesystem::path repository_root() const;  // working tree's root; the project itself without git
  std::filesystem::path state_folder() const;     // <git common dir>/kagent, or <build folder>/kagent/state
  // Files and folders whose change means that the variants of a kernel and architecture may have changed (for the
  // depfile): HEAD, packed-refs, the folder of its branches, variants/ in the working tree, the stamp (made if it is
  // missing); remote-tracking branches only when asked for. All of them exist.
  std::vector<std::filesystem::path> watched_files(const std::string& kernel, const std::string& architecture,
                                                   bool remote) const;

  // Every variant of a kernel and architecture at one place, newest generation first. Broken ones are left out and
  // named in `broken` ("kagent/...: variant.json: ..."), which never fails the rest.
  Result<std::vector<Variant>> list(const std::string& kernel, const std::string& architecture, VariantPlace place,
                                    std::vector<std::string>* broken = nullptr) const;
  // Architectures with variants of a kernel, at any place; and kernels that have any.
  Result<std::vector<std::string>> architectures(const std::string& kernel) const;
  Result<std::vector<std::string>> kernels() const;
  Result<Variant> find(const std::string& branch) const;

  // The baseline's text that the variant was made from: out of its branch, or HEAD; nothing if neither holds it any
  // more.
  std::optional<std::string> baseline_of(const Variant& variant) const;

  // Commits an accepted variant on a new branch and returns it (retries on races; 5 s in all). Touches the stamp.
  Result<Variant> add(const NewVariant& variant);
  // Writes the variant's files into variants/<kernel>/<arch>/ of the working tree, for review and commit by the user.
  // Refuses where the file there was edited since it was written (its hash is not the recorded one), unless forced.
  Result<std::vector<std::filesystem::path>> promote(const Variant& variant, bool force = false);

  // Rollbacks. They are records in the state folder: no branch is touched, and release() undoes them.
  Result<std::vector<Hold>> holds(const std::string& kernel, const std::string& architecture) const;
  // Takes every variant above `generation` out of selection (0 leaves the baseline) and lets the others back in.
  // Returns what is held now. Touches the stamp.
  Result<std::vector<Hold>> roll_back(const std::string& kernel, const std::string& architecture, int generation);
  // Lets every held variant back in; how many there were. Touches the stamp.
  Result<int> release(const std::string& kernel, const std::string& architecture);

  // Marks that selection may give something else now.
  Result<void> touch_stamp();

 private:
  struct Implementation;
  explicit VariantStore(std::unique_ptr<Implementation> implementation);
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace kagent::store
