// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include <SQLiteCpp/SQLiteCpp.h>

#include "values/error.h"

namespace kagent::store {

// The SQLite file under TrialStore: opening, schema version, damage.
class TrialDatabase {
 public:
  static Result<TrialDatabase> open(const std::filesystem::path& file);

  // Runs `work(SQLite::Database&)`, which may throw SQLite::Exception. If the file turns out to be damaged, it is moved
  // aside, and the work is done once more on a new one.
  template <class Work>
  auto guarded(Work work) -> Result<std::invoke_result_t<Work, SQLite::Database&>> {
    for (bool second_time = false;; second_time = true) {
      try {
        if constexpr (std::is_void_v<std::invoke_result_t<Work, SQLite::Database&>>) {
          work(*database_);
          return {};
        } else {
          return work(*database_);
        }
      } catch (const SQLite::Exception& error) {
        if (second_time || !is_damage(error)) return std::unexpected(explain(error));
      }
      if (auto replaced = replace_damaged(); !replaced) return std::unexpected(replaced.error());
    }
  }

  // One line about a damaged file that was moved aside; empty if none was.
  const std::string& notice() const { return notice_; }

 private:
  explicit TrialDatabase(std::filesystem::path file) : file_(std::move(file)) {}
  static bool is_damage(const SQLite::Exception& error);
  StageError explain(const SQLite::Exception& error) const;
  Result<void> connect();
  Result<void> create_schema();
  Result<void> migrate();
  Result<void> replace_damaged();
  bool is_sound() const;
  std::filesystem::path lock_file() const;

  std::filesystem::path file_;
  std::unique_ptr<SQLite::Database> database_;
  std::string notice_;
};

}  // namespace kagent::store
