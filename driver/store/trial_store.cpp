// SPDX-License-Identifier: Apache-2.0
#include "store/trial_store.h"

#include <utility>

#include <SQLiteCpp/VariadicBind.h>
#include <nlohmann/json.hpp>

#include "store/candidate_json.h"
#include "store/trial_database.h"
#include "util/hash.h"

namespace kagent::store {
namespace {

constexpr char kSelectTrial[] =
    "SELECT id, kernel, architecture, key, candidate_hash, object_hash, sources.text, tunables, proposer, hypothesis, "
    "outcome, detail, score, compile_s, verify_s, measure_s, started, details, reflection, "
    "error_over_bound, cases FROM trials JOIN sources ON sources.hash = trials.source_hash ";

std::string tunables_text(const TunableValues& tunables) {
  return nlohmann::json(tunables).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// A row that SQLite finds sound but that makes no sense here: written by other hands, or by another kagent.
SQLite::Exception nonsense(std::int64_t id, const std::string& what) {
  constexpr int kSqliteError = 1;
  return {"trial " + std::to_string(id) + " has an unreadable " + what, kSqliteError};
}

Trial read_trial(SQLite::Statement& row) {
  Trial trial;
  trial.id = row.getColumn(0).getInt64();
  trial.kernel = row.getColumn(1).getString();
  trial.architecture = row.getColumn(2).getString();
  trial.key = row.getColumn(3).getString();
  trial.candidate_hash = row.getColumn(4).getString();
  trial.object_hash = row.getColumn(5).getString();
  trial.candidate.source = row.getColumn(6).getString();
  try {
    trial.candidate.tunables = nlohmann::json::parse(row.getColumn(7).getString()).get<TunableValues>();
  } catch (const nlohmann::json::exception&) {
    throw nonsense(trial.id, "set of tunables");
  }
  trial.candidate.proposer = row.getColumn(8).getString();
  trial.candidate.hypothesis = row.getColumn(9).getString();
  const auto outcome = parse_outcome(row.getColumn(10).getString());
  if (!outcome) throw nonsense(trial.id, "outcome");
  trial.outcome = *outcome;
  trial.detail = row.getColumn(11).getString();
  if (!row.getColumn(12).isNull()) trial.score = row.getColumn(12).getDouble();
  trial.compile_s = row.getColumn(13).getDouble();
  trial.verify_s = row.getColumn(14).getDouble();
  trial.measure_s = row.getColumn(15).getDouble();
  trial.started = row.getColumn(16).getString();
  if (!read_details(row.getColumn(17).getString(), trial.candidate)) throw nonsense(trial.id, "set of details");
  trial.reflection = row.getColumn(18).getString();
  if (!row.getColumn(19).isNull()) trial.error_over_bound = row.getColumn(19).getDouble();
  if (!read_case_times(row.getColumn(20).getString(), trial.cases)) throw nonsense(trial.id, "set of times");
  return trial;
}

std::vector<Trial> read_trials(SQLite::Statement& rows) {
  std::vector<Trial> result;
  while (rows.executeStep()) result.push_back(read_trial(rows));
  return result;
}

void bind_number(SQLite::Statement& statement, int index, const std::optional<double>& number) {
  if (number)
    statement.bind(index, *number);
  else
    statement.bind(index);
}

std::int64_t insert(SQLite::Database& database, const Trial& trial) {
  // Immediate: taking the write lock later, after a read, fails at once instead of waiting when another process wrote.
  SQLite::Transaction transaction(database, SQLite::TransactionBehavior::IMMEDIATE);
  SQLite::Statement present(
      database, "SELECT id FROM trials WHERE kernel = ? AND architecture = ? AND key = ? AND candidate_hash = ?");
  SQLite::bind(present, trial.kernel, trial.architecture, trial.key, trial.candidate_hash);
  if (present.executeStep()) return present.getColumn(0).getInt64();

  const std::string source_hash = util::sha256(trial.candidate.source);
  SQLite::Statement source(database, "INSERT OR IGNORE INTO sources (hash, text) VALUES (?, ?)");
  SQLite::bind(source, source_hash, trial.candidate.source);
  source.exec();
  SQLite::Statement row(database,
                        "INSERT INTO trials (kernel, architecture, key, candidate_hash, object_hash, source_hash, "
                        "tunables, proposer, hypothesis, outcome, detail, compile_s, verify_s, measure_s, started, "
                        "details, reflection, cases, score, error_over_bound) "
                        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  SQLite::bind(row, trial.kernel, trial.architecture, trial.key, trial.candidate_hash, trial.object_hash, source_hash,
               tunables_text(trial.candidate.tunables), trial.candidate.proposer, trial.candidate.hypothesis,
               std::string(name(trial.outcome)), trial.detail, trial.compile_s, trial.verify_s, trial.measure_s,
               trial.started, details_json(trial.candidate), trial.reflection, case_times_json(trial.cases));
  bind_number(row, 19, trial.score);
  bind_number(row, 20, trial.error_over_bound);
  row.exec();
  const std::int64_t id = database.getLastInsertRowid();
  transaction.commit();
  return id;
}

}  // namespace

struct TrialStore::Implementation {
  // Reading moves a damaged file aside too, so the database is no part of what const promises.
  mutable TrialDatabase database;
};

TrialStore::TrialStore(std::unique_ptr<Implementation> implementation) : implementation_(std::move(implementation)) {}
TrialStore::TrialStore(TrialStore&&) noexcept = default;
TrialStore& TrialStore::operator=(TrialStore&&) noexcept = default;
TrialStore::~TrialStore() = default;

Result<TrialStore> TrialStore::open(const std::filesystem::path& file) {
  auto database = TrialDatabase::open(file);
  if (!database) return std::unexpected(database.error());
  return TrialStore(std::make_unique<Implementation>(std::move(*database)));
}

const std::string& TrialStore::notice() const {
  return implementation_->database.notice();
}

Result<std::int64_t> TrialStore::add(const Trial& trial) {
  return implementation_->database.guarded([&](SQLite::Database& database) { return insert(database, trial); });
}

Result<std::vector<Trial>> TrialStore::trials(const std::string& kernel, const std::string& architecture,
                                              const std::string& key) const {
  return implementation_->database.guarded([&](SQLite::Database& database) {
    SQLite::Statement rows(database,
                           std::string(kSelectTrial) + "WHERE kernel = ? AND architecture = ? AND key = ? ORDER BY id");
    SQLite::bind(rows, kernel, architecture, key);
    return read_trials(rows);
  });
}

Result<std::vector<Trial>> TrialStore::recent(const std::string& kernel, int limit) const {
  return implementation_->database.guarded([&](SQLite::Database& database) {
    SQLite::Statement rows(database, std::string(kSelectTrial) + "WHERE kernel = ? ORDER BY id DESC LIMIT ?");
    SQLite::bind(rows, kernel, limit);
    return read_trials(rows);
  });
}

Result<void> TrialStore::update(const Trial& trial) {
  auto changed = implementation_->database.guarded([&](SQLite::Database& database) {
    SQLite::Statement row(database,
                          "UPDATE trials SET outcome = ?, detail = ?, verify_s = ?, measure_s = ?, reflection = ?, "
                          "score = ? WHERE id = ?");
    SQLite::bind(row, std::string(name(trial.outcome)), trial.detail, trial.verify_s, trial.measure_s,
                 trial.reflection);
    bind_number(row, 6, trial.score);
    row.bind(7, trial.id);
    return row.exec();
  });
  if (!changed) return std::unexpected(changed.error());
  if (*changed == 0) return failure("there is no trial " + std::to_string(trial.id) + " to update");
  return {};
}

Result<void> TrialStore::conclude(const Conclusion& conclusion) {
  return implementation_->database.guarded([&](SQLite::Database& database) {
    SQLite::Statement row(database,
                          "INSERT OR REPLACE INTO conclusions (kernel, architecture, key, improved, variant, reason, "
                          "trials, finished) VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
    SQLite::bind(row, conclusion.kernel, conclusion.architecture, conclusion.key, conclusion.improved() ? 1 : 0,
                 conclusion.variant, conclusion.reason, conclusion.trials, conclusion.finished);
    row.exec();
  });
}

Result<std::optional<Conclusion>> TrialStore::conclusion(const std::string& kernel, const std::string& architecture,
                                                         const std::string& key) const {
  return implementation_->database.guarded([&](SQLite::Database& database) -> std::optional<Conclusion> {
    SQLite::Statement row(database,
                          "SELECT variant, reason, trials, finished FROM conclusions "
                          "WHERE kernel = ? AND architecture = ? AND key = ?");
    SQLite::bind(row, kernel, architecture, key);
    if (!row.executeStep()) return std::nullopt;
    return Conclusion{.kernel = kernel,
                      .architecture = architecture,
                      .key = key,
                      .variant = row.getColumn(0).getString(),
                      .reason = row.getColumn(1).getString(),
                      .trials = row.getColumn(2).getInt(),
                      .finished = row.getColumn(3).getString()};
  });
}

}  // namespace kagent::store
