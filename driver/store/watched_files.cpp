// SPDX-License-Identifier: Apache-2.0
#include "store/watched_files.h"

#include "store/folder_variants.h"

namespace kagent::store {

namespace fs = std::filesystem;

void WatchedFiles::add(const fs::path& path, const fs::path& top) {
  std::error_code ignored;
  for (fs::path at = path;; at = at.parent_path()) {
    if (fs::exists(at, ignored)) {
      paths_.insert(at);
      return;
    }
    if (at == top || at == at.parent_path()) return;
  }
}

void WatchedFiles::add_folder(const fs::path& folder, const fs::path& top) {
  add(folder, top);
  std::error_code error;
  for (auto entry = fs::directory_iterator(folder, error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    std::error_code ignored;
    if (entry->is_regular_file(ignored)) paths_.insert(entry->path());
  }
}

void WatchedFiles::add_branches(const Repository& repository, const std::string& kernel,
                                const std::string& architecture, bool remote) {
  const fs::path refs = repository.common / "refs";
  const fs::path tail = fs::path("kagent") / kernel / architecture;
  for (const fs::path& file : {repository.git_folder / "HEAD", repository.common / "packed-refs"}) add(file, file);
  add(refs / "heads" / tail, refs / "heads");
  if (!remote) return;
  add(refs / "remotes", refs);
  for (const std::string& name : subfolders(refs / "remotes"))
    add(refs / "remotes" / name / tail, refs / "remotes" / name);
}

}  // namespace kagent::store
