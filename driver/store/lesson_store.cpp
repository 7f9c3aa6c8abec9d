// SPDX-License-Identifier: Apache-2.0
#include "store/lesson_store.h"

#include <SQLiteCpp/VariadicBind.h>
#include <nlohmann/json.hpp>

#include "store/trial_database.h"

namespace kagent::store {

struct LessonStore::Implementation {
  // Reading moves a damaged file aside too, so the database is no part of what const promises.
  mutable TrialDatabase database;
};

LessonStore::LessonStore(std::unique_ptr<Implementation> implementation) : implementation_(std::move(implementation)) {}
LessonStore::LessonStore(LessonStore&&) noexcept = default;
LessonStore& LessonStore::operator=(LessonStore&&) noexcept = default;
LessonStore::~LessonStore() = default;

Result<LessonStore> LessonStore::open(const std::filesystem::path& file) {
  auto database = TrialDatabase::open(file);
  if (!database) return std::unexpected(database.error());
  return LessonStore(std::make_unique<Implementation>(std::move(*database)));
}

Result<void> LessonStore::add(const Lesson& lesson) {
  const std::string features =
      nlohmann::json(lesson.features).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return implementation_->database.guarded([&](SQLite::Database& database) {
    SQLite::Statement row(database,
                          "INSERT OR REPLACE INTO lessons (architecture, pattern, change, effect, outcome, features, "
                          "origin) VALUES (?, ?, ?, ?, ?, ?, ?)");
    SQLite::bind(row, lesson.architecture, lesson.pattern, lesson.change, lesson.effect,
                 std::string(name(lesson.outcome)), features, lesson.from);
    row.exec();
  });
}

Result<std::vector<Lesson>> LessonStore::lessons(int limit) const {
  return implementation_->database.guarded([&](SQLite::Database& database) {
    SQLite::Statement rows(database,
                           "SELECT architecture, pattern, change, effect, outcome, features, origin FROM lessons "
                           "ORDER BY id DESC LIMIT ?");
    rows.bind(1, limit);
    std::vector<Lesson> lessons;
    while (rows.executeStep()) {
      Lesson lesson;
      lesson.architecture = rows.getColumn(0).getString();
      lesson.pattern = rows.getColumn(1).getString();
      lesson.change = rows.getColumn(2).getString();
      lesson.effect = rows.getColumn(3).getDouble();
      const auto outcome = parse_outcome(rows.getColumn(4).getString());
      const auto features = nlohmann::json::parse(rows.getColumn(5).getString(), nullptr, false);
      if (!outcome || !features.is_array()) continue;  // of another kagent: advice, and no reason to stop
      lesson.outcome = *outcome;
      for (const auto& feature : features)
        if (feature.is_string()) lesson.features.push_back(feature.get<std::string>());
      lesson.from = rows.getColumn(6).getString();
      lessons.push_back(std::move(lesson));
    }
    return lessons;
  });
}

}  // namespace kagent::store
