// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "values/error.h"

namespace kagent::util {

// The whole file; the error names the path and the reason.
Result<std::string> read_file(const std::filesystem::path& path);
// Writes beside the target and renames over it, so that a reader sees the old contents or the new, never a part.
Result<void> write_file_atomically(const std::filesystem::path& path, std::string_view contents);
// As above, but leaves an equal file untouched, time stamp included. True if it wrote.
Result<bool> write_file_if_different(const std::filesystem::path& path, std::string_view contents);

// A folder of its own under the system's temporary folder, removed with everything in it at the end.
class TemporaryFolder {
 public:
  explicit TemporaryFolder(std::string_view prefix = "kagent");  // throws std::filesystem::filesystem_error
  ~TemporaryFolder();
  TemporaryFolder(TemporaryFolder&&) noexcept;
  TemporaryFolder& operator=(TemporaryFolder&&) noexcept;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace kagent::util
