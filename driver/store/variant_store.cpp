// SPDX-License-Identifier: Apache-2.0
#include "store/variant_store.h"

#include <algorithm>
#include <cerrno>
#include <set>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>

#include "store/branch_variants.h"
#include "store/commit_message.h"
#include "store/folder_variants.h"
#include "store/holds.h"
#include "store/project_files.h"
#include "store/repository.h"
#include "store/variant_commit.h"
#include "store/variant_name.h"
#include "store/watched_files.h"
#include "util/descriptor.h"
#include "util/hash.h"
#include "util/lock.h"
#include "util/text.h"

namespace kagent::store {

namespace fs = std::filesystem;

namespace {

constexpr char kVariants[] = "variants";

Result<void> check_names(const std::string& kernel, const std::string& architecture) {
  if (auto done = check_name_part("a kernel", kernel); !done) return done;
  return check_name_part("an architecture", architecture);
}

bool is_of(const Hold& hold, const std::string& kernel, const std::string& architecture) {
  return hold.kernel == kernel && hold.architecture == architecture;
}

std::string tree_reference(const std::string& kernel, const std::string& architecture) {
  return std::string(kVariants) + "/" + kernel + "/" + architecture;
}

// "variants/<kernel>/<architecture>", else nothing.
std::optional<std::pair<std::string, std::string>> parse_tree_reference(const std::string& reference) {
  const fs::path path(reference);
  std::vector<std::string> parts;
  for (const fs::path& part : path) parts.push_back(part.string());
  if (parts.size() != 3 || parts[0] != kVariants || !check_names(parts[1], parts[2])) return std::nullopt;
  return std::pair(parts[1], parts[2]);
}

}  // namespace

struct VariantStore::Implementation {
  fs::path project, build_folder, state;
  std::optional<Repository> repository;

  fs::path tree_folder(const std::string& kernel, const std::string& architecture) const {
    return project / kVariants / kernel / architecture;
  }

  // Held while variants are numbered, and while holds are changed.
  Result<util::FileLock> lock(const std::string& what) const {
    std::error_code error;
    fs::create_directories(state, error);
    if (error) return failure("cannot make the folder '" + state.string() + "': " + error.message());
    return util::FileLock::acquire(state / "variants.lock", what);
  }

  // What is at a place without git counts as a local branch.
  Result<std::vector<VariantBranch>> branches(const std::string& kernel, const std::string& architecture,
                                              VariantPlace place) const {
    if (repository) return variant_branches(*repository, kernel, architecture, place);
    std::vector<VariantBranch> found;
    if (place == VariantPlace::local_branch)
      for (VariantName& name : folder_names(state, kernel, architecture))
        found.push_back({name, name.branch(), VariantPlace::local_branch});
    return found;
  }

  Result<Variant> read(const VariantBranch& branch, bool* gone = nullptr) const {
    if (repository) return read_branch(*repository, branch, gone);
    auto variant = read_folder(folder_of(state, branch.name), branch.name.kernel, branch.name.architecture,
                               VariantPlace::local_branch, branch.reference);
    if (!variant) return std::unexpected(variant.error());
    if (*variant) return std::move(**variant);
    if (gone != nullptr) *gone = true;
    return failure("there is no variant '" + branch.reference + "'");
  }

  Result<std::vector<Variant>> in_tree(const std::string& kernel, const std::string& architecture,
                                       std::vector<std::string>* broken) const {
    const std::string reference = tree_reference(kernel, architecture);
    auto variant =
        read_folder(tree_folder(kernel, architecture), kernel, architecture, VariantPlace::working_tree, reference);
    std::vector<Variant> result;
    if (variant && *variant) result.push_back(std::move(**variant));
    if (!variant && broken != nullptr) broken->push_back(reference + ": " + variant.error().message);
    return result;
  }

  // Over everything that can be seen, so that a number is not given twice where it can be helped.
  Result<int> highest_generation(const std::string& kernel, const std::string& architecture) const {
    int highest = 0;
    for (VariantPlace place : {VariantPlace::local_branch, VariantPlace::remote_branch}) {
      auto found = branches(kernel, architecture, place);
      if (!found) return std::unexpected(found.error());
      if (!found->empty()) highest = std::max(highest, found->front().name.generation);
    }
    auto tree = in_tree(kernel, architecture, nullptr);
    if (tree && !tree->empty()) highest = std::max(highest, tree->front().evidence.generation);
    return highest;
  }

  // The branch that a reference at any place stands for, and the ref that may have its commit.
  struct Parent {
    std::string branch;     // for the evidence
    std::string reference;  // empty: HEAD
  };
  Parent parent(const std::optional<std::string>& reference) const {
    if (!reference) return {"baseline", {}};
    if (const auto tree = parse_tree_reference(*reference)) {
      const auto variants = in_tree(tree->first, tree->second, nullptr);
      if (!variants || variants->empty()) return {*reference, {}};
      const Evidence& evidence = variants->front().evidence;
      const std::string branch =
          VariantName{tree->first, tree->second, evidence.generation, evidence.source_hash.substr(0, 8)}.branch();
      return {branch, "refs/heads/" + branch};
    }
    if (parse_variant_name(*reference)) return {*reference, "refs/heads/" + *reference};
    const auto at = reference->find("/kagent/");
    return {at == std::string::npos ? *reference : reference->substr(at + 1), "refs/remotes/" + *reference};
  }

  Result<void> write(const VariantName& name, const Variant& variant, const NewVariant& request) const {
    if (!repository) return create_folder(state, name, variant);
    std::vector<fs::path> files;
    for (const ProjectFile& file : request.files) files.push_back(file.path);
    auto paths = tree_paths(*repository, files);
    if (!paths) return std::unexpected(paths.error());
    return create_branch(*repository, {.branch = name.branch(),
                                       .message = commit_message(variant.evidence),
                                       .paths = std::move(*paths),
                                       .folder = repository->prefix + tree_reference(name.kernel, name.architecture),
                                       .source_name = variant.evidence.source_name,
                                       .source = variant.source,
                                       .evidence_json = to_json(variant.evidence),
                                       .parent_reference = parent(request.parent_branch).reference});
  }
};

VariantStore::VariantStore(std::unique_ptr<Implementation> implementation)
    : implementation_(std::move(implementation)) {}
VariantStore::VariantStore(VariantStore&&) noexcept = default;
VariantStore& VariantStore::operator=(VariantStore&&) noexcept = default;
VariantStore::~VariantStore() = default;

Result<VariantStore> VariantStore::open(const fs::path& project, const fs::path& build_folder) {
  auto store = open_without_git(project, build_folder);
  if (!store) return store;
  auto repository = find_repository(project);
  if (!repository) return std::unexpected(repository.error());
  Implementation& self = *store->implementation_;
  self.repository = std::move(*repository);
  if (self.repository) self.state = self.repository->common / "kagent";
  return store;
}

Result<VariantStore> VariantStore::open_without_git(const fs::path& project, const fs::path& build_folder) {
  auto self = std::make_unique<Implementation>();
  std::error_code error;
  self->project = fs::canonical(project, error);
  if (error) return failure("the project's folder '" + project.string() + "': " + error.message());
  self->build_folder = fs::weakly_canonical(fs::absolute(build_folder), error);
  if (error) return failure("the build folder '" + build_folder.string() + "': " + error.message());
  self->state = self->build_folder / "kagent" / "state";
  return VariantStore(std::move(self));
}

bool VariantStore::has_git() const {
  return implementation_->repository.has_value();
}

std::string VariantStore::description() const {
  const Implementation& self = *implementation_;
  if (self.repository) return self.repository->describe();
  return "no git repository: accepted variants are kept in '" + (self.state / kVariants).string() + "'";
}

fs::path VariantStore::repository_root() const {
  return has_git() ? implementation_->repository->root : implementation_->project;
}

fs::path VariantStore::state_folder() const {
  return implementation_->state;
}

std::vector<fs::path> VariantStore::watched_files(const std::string& kernel, const std::string& architecture,
                                                  bool remote) const {
  const Implementation& self = *implementation_;
  WatchedFiles watched;
  const fs::path stamp = self.state / "stamp";
  std::error_code ignored;
  // Where it cannot be made, nobody can roll back either.
  if (!fs::exists(stamp, ignored)) static_cast<void>(const_cast<VariantStore*>(this)->touch_stamp());
  watched.add(stamp, stamp);
  // A build inside the sources changes the project's own folder all the time.
  const fs::path top = self.project == self.build_folder ? self.project / kVariants : self.project;
  watched.add_folder(self.tree_folder(kernel, architecture), top);
  if (self.repository)
    watched.add_branches(*self.repository, kernel, architecture, remote);
  else
    watched.add(self.state / kVariants / kernel / architecture, self.state / kVariants);
  return {watched.paths().begin(), watched.paths().end()};
}

Result<std::vector<Variant>> VariantStore::list(const std::string& kernel, const std::string& architecture,
                                                VariantPlace place, std::vector<std::string>* broken) const {
  if (auto done = check_names(kernel, architecture); !done) return std::unexpected(done.error());
  if (place == VariantPlace::working_tree) return implementation_->in_tree(kernel, architecture, broken);
  auto branches = implementation_->branches(kernel, architecture, place);
  if (!branches) return std::unexpected(branches.error());
  std::vector<Variant> result;
  for (const VariantBranch& branch : *branches) {
    bool gone = false;
    auto variant = implementation_->read(branch, &gone);
    if (variant)
      result.push_back(std::move(*variant));
    else if (!gone && broken != nullptr)
      broken->push_back(branch.reference + ": " + variant.error().message);
  }
  return result;
}

Result<std::vector<std::string>> VariantStore::architectures(const std::string& kernel) const {
  if (auto done = check_name_part("a kernel", kernel); !done) return std::unexpected(done.error());
  const Implementation& self = *implementation_;
  std::set<std::string> found;
  const auto take = [&](const fs::path& folder) {
    for (std::string& name : subfolders(folder))
      if (check_name_part("", name)) found.insert(std::move(name));
  };
  take(self.project / kVariants / kernel);
  if (!self.repository) take(self.state / kVariants / kernel);
  if (self.repository)
    for (VariantPlace place : {VariantPlace::local_branch, VariantPlace::remote_branch}) {
      auto branches = variant_branches(*self.repository, kernel, "*", place);
      if (!branches) return std::unexpected(branches.error());
      for (const VariantBranch& branch : *branches) found.insert(branch.name.architecture);
    }
  return std::vector<std::string>(found.begin(), found.end());
}

Result<std::vector<std::string>> VariantStore::kernels() const {
  const Implementation& self = *implementation_;
  std::set<std::string> found;
  const auto take = [&](const fs::path& folder) {
    for (std::string& name : subfolders(folder))
      if (check_name_part("", name)) found.insert(std::move(name));
  };
  take(self.project / kVariants);
  if (!self.repository) take(self.state / kVariants);
  if (self.repository)
    for (VariantPlace place : {VariantPlace::local_branch, VariantPlace::remote_branch}) {
      auto branches = variant_branches(*self.repository, "*", "*", place);
      if (!branches) return std::unexpected(branches.error());
      for (const VariantBranch& branch : *branches) found.insert(branch.name.kernel);
    }
  return std::vector<std::string>(found.begin(), found.end());
}

Result<Variant> VariantStore::find(const std::string& reference) const {
  if (const auto tree = parse_tree_reference(reference)) {
    std::vector<std::string> broken;
    auto variants = implementation_->in_tree(tree->first, tree->second, &broken);
    if (variants && !variants->empty()) return std::move(variants->front());
    return failure(broken.empty() ? "there is no '" + reference + "' in the working tree" : broken.front());
  }
  VariantBranch branch{{}, reference, VariantPlace::local_branch};
  auto name = parse_variant_name(reference);
  if (!name) {
    const auto at = reference.find("/kagent/");
    if (at != std::string::npos) name = parse_variant_name(std::string_view(reference).substr(at + 1));
    branch.place = VariantPlace::remote_branch;
  }
  if (!name || (branch.place == VariantPlace::remote_branch && !has_git()))
    return failure("'" + util::clean(reference, 200) + "' is not the name of a variant",
                   "kagent log <kernel> lists them: kagent/<kernel>/<architecture>/g<NNN>-<hash8>");
  branch.name = *name;
  auto variant = implementation_->read(branch);
  if (!variant) return failure(reference + ": " + variant.error().message, variant.error().fix);
  return variant;
}

std::optional<std::string> VariantStore::baseline_of(const Variant& variant) const {
  if (!has_git()) return std::nullopt;
  const Repository& repository = *implementation_->repository;
  const std::string& name = variant.evidence.source_name;
  const std::string& hash = variant.evidence.key.source;
  if (variant.place != VariantPlace::working_tree) {
    const std::string refs = variant.place == VariantPlace::remote_branch ? "refs/remotes/" : "refs/heads/";
    if (auto found = find_file(repository, refs + variant.reference, name, hash)) return found;
  }
  return find_file(repository, "HEAD", name, hash);
}

Result<Variant> VariantStore::add(const NewVariant& request) {
  const Implementation& self = *implementation_;
  Variant variant{VariantPlace::local_branch, {}, request.evidence, request.source};
  Evidence& evidence = variant.evidence;
  if (auto done = check_names(evidence.kernel, evidence.architecture); !done) return std::unexpected(done.error());
  auto lock = self.lock("numbers a variant of " + evidence.kernel);
  if (!lock) return std::unexpected(lock.error());
  auto highest = self.highest_generation(evidence.kernel, evidence.architecture);
  if (!highest) return std::unexpected(highest.error());
  evidence.generation = *highest + 1;
  evidence.parent = self.parent(request.parent_branch).branch;
  evidence.source_hash = util::sha256(request.source);
  if (evidence.created.empty()) evidence.created = util::utc_now();
  if (std::string found = flaw(variant, evidence.kernel, evidence.architecture); !found.empty()) return failure(found);
  const VariantName name{evidence.kernel, evidence.architecture, evidence.generation,
                         evidence.source_hash.substr(0, 8)};
  variant.reference = name.branch();
  if (auto done = self.write(name, variant, request); !done) return std::unexpected(done.error());
  if (auto done = touch_stamp(); !done) return std::unexpected(done.error());
  return variant;
}

Result<std::vector<fs::path>> VariantStore::promote(const Variant& variant, bool force) {
  const Evidence& evidence = variant.evidence;
  if (auto done = check_names(evidence.kernel, evidence.architecture); !done) return std::unexpected(done.error());
  if (std::string found = flaw(variant, evidence.kernel, evidence.architecture); !found.empty()) return failure(found);
  if (util::sha256(variant.source) != evidence.source_hash)
    return failure(variant.reference + ": " + evidence.source_name +
                   " is not the file that was measured: its hash differs");
  const Implementation& self = *implementation_;
  auto files = write_folder(self.project, self.tree_folder(evidence.kernel, evidence.architecture), variant, force);
  if (!files) return files;
  if (auto done = touch_stamp(); !done) return std::unexpected(done.error());
  return files;
}

Result<std::vector<Hold>> VariantStore::holds(const std::string& kernel, const std::string& architecture) const {
  auto holds = read_holds(implementation_->state / "holds.json");
  if (!holds) return holds;
  std::erase_if(*holds, [&](const Hold& hold) { return !is_of(hold, kernel, architecture); });
  return holds;
}

Result<std::vector<Hold>> VariantStore::roll_back(const std::string& kernel, const std::string& architecture,
                                                  int generation) {
  const Implementation& self = *implementation_;
  auto lock = self.lock("rolls back " + kernel);
  if (!lock) return std::unexpected(lock.error());
  std::vector<Variant> variants;
  for (VariantPlace place : {VariantPlace::local_branch, VariantPlace::remote_branch}) {
    auto found = list(kernel, architecture, place);
    if (!found) return std::unexpected(found.error());
    std::move(found->begin(), found->end(), std::back_inserter(variants));
  }
  auto holds = read_holds(self.state / "holds.json");
  if (!holds) return holds;

  std::set<std::string> kept, held;  // hashes of sources
  for (const Variant& variant : variants)
    if (variant.evidence.generation <= generation) kept.insert(variant.evidence.source_hash);
  std::erase_if(*holds, [&](const Hold& hold) {
    return is_of(hold, kernel, architecture) && (hold.generation <= generation || kept.contains(hold.source_hash));
  });
  for (const Hold& hold : *holds)
    if (is_of(hold, kernel, architecture)) held.insert(hold.source_hash);
  for (const Variant& variant : variants) {
    const Evidence& evidence = variant.evidence;
    if (evidence.generation > generation && !kept.contains(evidence.source_hash) &&
        held.insert(evidence.source_hash).second)
      holds->push_back(
          {kernel, architecture, evidence.generation, variant.reference, evidence.source_hash, util::utc_now()});
  }
  if (auto done = write_holds(self.state / "holds.json", *holds); !done) return std::unexpected(done.error());
  if (auto done = touch_stamp(); !done) return std::unexpected(done.error());
  return this->holds(kernel, architecture);
}

Result<int> VariantStore::release(const std::string& kernel, const std::string& architecture) {
  const Implementation& self = *implementation_;
  auto lock = self.lock("releases " + kernel);
  if (!lock) return std::unexpected(lock.error());
  auto holds = read_holds(self.state / "holds.json");
  if (!holds) return std::unexpected(holds.error());
  const auto released = std::erase_if(*holds, [&](const Hold& hold) { return is_of(hold, kernel, architecture); });
  if (released == 0) return 0;
  if (auto done = write_holds(self.state / "holds.json", *holds); !done) return std::unexpected(done.error());
  if (auto done = touch_stamp(); !done) return std::unexpected(done.error());
  return static_cast<int>(released);
}

Result<void> VariantStore::touch_stamp() {
  const fs::path& state = implementation_->state;
  std::error_code error;
  fs::create_directories(state, error);
  const fs::path stamp = state / "stamp";
  const util::Descriptor file(::open(stamp.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666));
  if (!file || ::futimens(file.get(), nullptr) != 0)
    return failure("cannot touch '" + stamp.string() + "': " + std::generic_category().message(errno));
  return {};
}

}  // namespace kagent::store
