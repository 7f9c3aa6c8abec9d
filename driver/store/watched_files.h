// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <set>
#include <string>

#include "store/repository.h"

namespace kagent::store {

// Collects what a build has to watch. A file that is not there yet is seen through the folder in which it, or the first
// folder on the way to it, would appear: making and deleting an entry changes the folder's time.
class WatchedFiles {
 public:
  // The path if it exists, else the nearest folder above it, at most `top`; nothing if that is missing too.
  void add(const std::filesystem::path& path, const std::filesystem::path& top);
  // A folder as add() does, and the files in it.
  void add_folder(const std::filesystem::path& folder, const std::filesystem::path& top);
  void add_branches(const Repository& repository, const std::string& kernel, const std::string& architecture,
                    bool remote);

  const std::set<std::filesystem::path>& paths() const { return paths_; }

 private:
  std::set<std::filesystem::path> paths_;
};

}  // namespace kagent::store
