// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "values/brief.h"
#include "values/error.h"

namespace kagent::store {

// What trials of a project's kernels taught, beside the trials in the same file and with the same promises.
class LessonStore {
 public:
  static Result<LessonStore> open(const std::filesystem::path& file);
  LessonStore(LessonStore&&) noexcept;
  LessonStore& operator=(LessonStore&&) noexcept;
  ~LessonStore();

  // A second lesson of the same origin replaces the first.
  Result<void> add(const Lesson& lesson);
  // Of all kernels and architectures, newest first.
  Result<std::vector<Lesson>> lessons(int limit) const;

 private:
  struct Implementation;
  explicit LessonStore(std::unique_ptr<Implementation> implementation);
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace kagent::store
