// SPDX-License-Identifier: Apache-2.0
#include "store/folder_variants.h"

#include <algorithm>
#include <system_error>
#include <tuple>

#include <unistd.h>

#include "store/evidence_json.h"
#include "util/files.h"
#include "util/hash.h"

namespace kagent::store {
namespace {

namespace fs = std::filesystem;

Result<std::string> read_capped(const fs::path& file, std::size_t limit) {
  std::error_code error;
  if (fs::is_regular_file(file, error) && fs::file_size(file, error) > limit)
    return failure("'" + file.string() + "' is larger than " + std::to_string(limit >> 20) + " MiB");
  return util::read_file(file);
}

Result<void> check_no_links(const fs::path& project, const fs::path& path) {
  fs::path at = project;
  for (const fs::path& part : path.lexically_relative(project)) {
    at /= part;
    std::error_code ignored;
    if (fs::is_symlink(at, ignored))
      return failure("'" + at.string() + "' is a symbolic link: nothing is written through it",
                     "replace it by what it leads to");
  }
  return {};
}

Result<std::optional<Evidence>> recorded(const fs::path& folder) {
  std::error_code ignored;
  if (!fs::exists(folder / "variant.json", ignored)) return std::optional<Evidence>();
  auto text = read_capped(folder / "variant.json", kLargestEvidenceBytes);
  auto evidence = text ? evidence_from_json(*text) : Result<Evidence>(std::unexpected(text.error()));
  if (!evidence) return std::unexpected(evidence.error());
  return std::optional<Evidence>(std::move(*evidence));
}

Result<void> check_unedited(const fs::path& file, const std::string& recorded_hash, const std::string& new_hash) {
  std::error_code ignored;
  if (!fs::exists(file, ignored)) return {};
  auto hash = util::sha256_file(file);
  if (!hash) return std::unexpected(hash.error());
  if (*hash == recorded_hash || *hash == new_hash) return {};
  return failure("'" + file.string() + "' was edited since it was written there", "keep a copy, then use --force");
}

Result<void> check_replaceable(const fs::path& folder, const Variant& variant, const std::optional<Evidence>& old) {
  const std::string& new_hash = variant.evidence.source_hash;
  const std::string old_hash = old ? old->source_hash : "";
  if (old)
    if (auto done = check_unedited(folder / old->source_name, old_hash, new_hash); !done) return done;
  return check_unedited(folder / variant.evidence.source_name, old_hash, new_hash);
}

}  // namespace

Result<std::optional<Variant>> read_folder(const fs::path& folder, const std::string& kernel,
                                           const std::string& architecture, VariantPlace place,
                                           const std::string& reference) {
  std::error_code ignored;
  if (!fs::exists(fs::symlink_status(folder / "variant.json", ignored))) return std::optional<Variant>();
  auto evidence = recorded(folder);
  if (!evidence) return std::unexpected(evidence.error());
  if (!*evidence) return failure("variant.json leads nowhere");
  Variant variant{place, reference, std::move(**evidence), {}};
  if (std::string found = flaw(variant, kernel, architecture); !found.empty()) return failure(found);
  auto source = read_capped(folder / variant.evidence.source_name, kLargestSourceBytes);
  if (!source) return std::unexpected(source.error());
  variant.source = std::move(*source);
  return std::optional<Variant>(std::move(variant));
}

Result<std::vector<fs::path>> write_folder(const fs::path& project, const fs::path& folder, const Variant& variant,
                                           bool force) {
  const fs::path source = folder / variant.evidence.source_name, json = folder / "variant.json";
  for (const fs::path& path : {source, json})
    if (auto done = check_no_links(project, path); !done) return std::unexpected(done.error());
  auto old = recorded(folder);
  if (!old && !force)
    return failure("'" + json.string() + "' cannot be read, so it may hold edits: " + old.error().message,
                   "keep a copy, then use --force");
  const std::optional<Evidence> old_evidence = old ? *old : std::nullopt;
  const bool has_old_name =
      old_evidence &&
      flaw({variant.place, "", *old_evidence, ""}, old_evidence->kernel, old_evidence->architecture).empty();
  if (!force)
    if (auto done = check_replaceable(folder, variant, has_old_name ? old_evidence : std::nullopt); !done)
      return std::unexpected(done.error());
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return failure("cannot make the folder '" + folder.string() + "': " + error.message());
  if (auto done = util::write_file_atomically(source, variant.source); !done) return std::unexpected(done.error());
  if (auto done = util::write_file_atomically(json, to_json(variant.evidence)); !done)
    return std::unexpected(done.error());
  if (has_old_name && old_evidence->source_name != variant.evidence.source_name)
    fs::remove(folder / old_evidence->source_name, error);
  return std::vector<fs::path>{source, json};
}

std::vector<std::string> subfolders(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (auto entry = fs::directory_iterator(folder, error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    std::error_code ignored;
    if (entry->is_directory(ignored)) names.push_back(entry->path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

fs::path folder_of(const fs::path& state, const VariantName& name) {
  return state / "variants" / name.kernel / name.architecture / (generation_name(name.generation) + "-" + name.hash8);
}

std::vector<VariantName> folder_names(const fs::path& state, const std::string& kernel,
                                      const std::string& architecture) {
  std::vector<VariantName> names;
  for (const std::string& folder : subfolders(state / "variants" / kernel / architecture))
    if (auto name = parse_variant_name("kagent/" + kernel + "/" + architecture + "/" + folder))
      names.push_back(std::move(*name));
  std::sort(names.begin(), names.end(), [](const VariantName& a, const VariantName& b) {
    return std::tie(b.generation, a.hash8) < std::tie(a.generation, b.hash8);
  });
  return names;
}

Result<void> create_folder(const fs::path& state, const VariantName& name, const Variant& variant) {
  const fs::path folder = folder_of(state, name);
  const fs::path beside = folder.parent_path() / (".new-" + std::to_string(::getpid()));
  std::error_code error;
  fs::remove_all(beside, error);
  if (auto done = write_folder(state, beside, variant, true); !done) return std::unexpected(done.error());
  fs::rename(beside, folder, error);
  if (error) return failure("cannot make the folder '" + folder.string() + "': " + error.message());
  return {};
}

}  // namespace kagent::store
