// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "values/error.h"

namespace kagent::util {

// An advisory exclusive lock (flock) on a file, held by this process until destroyed; the kernel frees it when the
// process dies, however it dies. The file holds "pid what" of the holder, for messages.
class FileLock {
 public:
  // Waits until it is free; `waiting` is called once, with the holder's line, if it is not free at once. While it waits
  // it asks `give_up` several times a second, and ends with an error once that says so.
  static Result<FileLock> acquire(const std::filesystem::path& file, const std::string& what,
                                  const std::function<void(const std::string& holder)>& waiting = {},
                                  const std::function<bool()>& give_up = {});

  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&& other) noexcept;
  ~FileLock();

 private:
  explicit FileLock(int descriptor) : descriptor_(descriptor) {}
  int descriptor_ = -1;
};

}  // namespace kagent::util
