// SPDX-License-Identifier: Apache-2.0
#include "store/trial_database.h"

#include <algorithm>
#include <system_error>

#include <unistd.h>

#include "util/lock.h"
#include "util/text.h"

namespace kagent::store {
namespace {

namespace fs = std::filesystem;

constexpr int kApplicationId = 0x6B616765;  // "kage": tells our files from other people's
constexpr int kSchemaVersion = 2;           // raised, with a migration, whenever the schema changes
constexpr int kBusyTimeout_ms = 30'000;
// Primary result codes of sqlite3.h.
constexpr int kSqliteCorrupt = 11;
constexpr int kSqliteNotADatabase = 26;

// Sources are apart from trials because a search over numbers proposes one source a thousand times.
constexpr char kSchema[] = R"(
CREATE TABLE sources (
  hash TEXT PRIMARY KEY NOT NULL,
  text TEXT NOT NULL
);
CREATE TABLE trials (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  kernel TEXT NOT NULL,
  architecture TEXT NOT NULL,
  key TEXT NOT NULL,
  candidate_hash TEXT NOT NULL,
  object_hash TEXT NOT NULL,
  source_hash TEXT NOT NULL REFERENCES sources (hash),
  tunables TEXT NOT NULL,
  proposer TEXT NOT NULL,
  hypothesis TEXT NOT NULL,
  outcome TEXT NOT NULL,
  detail TEXT NOT NULL,
  score REAL,
  compile_s REAL NOT NULL,
  verify_s REAL NOT NULL,
  measure_s REAL NOT NULL,
  started TEXT NOT NULL,
  details TEXT NOT NULL DEFAULT '',
  cases TEXT NOT NULL DEFAULT '',
  reflection TEXT NOT NULL DEFAULT '',
  error_over_bound REAL,
  UNIQUE (kernel, architecture, key, candidate_hash)
);
CREATE TABLE conclusions (
  kernel TEXT NOT NULL,
  architecture TEXT NOT NULL,
  key TEXT NOT NULL,
  improved INTEGER NOT NULL,
  variant TEXT NOT NULL,
  reason TEXT NOT NULL,
  trials INTEGER NOT NULL,
  finished TEXT NOT NULL,
  PRIMARY KEY (kernel, architecture, key)
);
)";

constexpr char kLessons[] = R"(
CREATE TABLE IF NOT EXISTS lessons (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  architecture TEXT NOT NULL,
  pattern TEXT NOT NULL,
  change TEXT NOT NULL,
  effect REAL NOT NULL,
  outcome TEXT NOT NULL,
  features TEXT NOT NULL,
  origin TEXT NOT NULL UNIQUE
);
)";

// From schema 1: candidates of proposers that write code, and what they taught.
constexpr char kToSchema2[] = R"(
ALTER TABLE trials ADD COLUMN details TEXT NOT NULL DEFAULT '';
ALTER TABLE trials ADD COLUMN cases TEXT NOT NULL DEFAULT '';
ALTER TABLE trials ADD COLUMN reflection TEXT NOT NULL DEFAULT '';
ALTER TABLE trials ADD COLUMN error_over_bound REAL;
)";

int pragma(SQLite::Database& database, const std::string& name) {
  return database.execAndGet("PRAGMA " + name).getInt();
}

// What tells whose file it is.
struct Header {
  int application = 0;
  int version = 0;
  int tables = 0;
  bool is_new() const { return application == 0 && version == 0 && tables == 0; }
};

// In one transaction: another process may be making the schema, and half of what it makes looks like a stranger's file.
Header read_header(SQLite::Database& database) {
  SQLite::Transaction transaction(database, SQLite::TransactionBehavior::DEFERRED);
  Header header{pragma(database, "application_id"), pragma(database, "user_version"),
                database.execAndGet("SELECT count(*) FROM sqlite_master").getInt()};
  transaction.commit();
  return header;
}

}  // namespace

Result<TrialDatabase> TrialDatabase::open(const fs::path& file) {
  TrialDatabase result(file);
  if (!file.parent_path().empty()) {
    std::error_code error;
    fs::create_directories(file.parent_path(), error);
    if (error) return failure("cannot make the folder '" + file.parent_path().string() + "': " + error.message());
  }
  // Damage that shows at once is dealt with by the first piece of work; this one only reads the header.
  try {
    if (auto done = result.connect(); !done) return std::unexpected(done.error());
  } catch (const SQLite::Exception& error) {
    if (!is_damage(error)) return std::unexpected(result.explain(error));
    if (auto done = result.replace_damaged(); !done) return std::unexpected(done.error());
  }
  return result;
}

// Throws SQLite::Exception.
Result<void> TrialDatabase::connect() {
  database_.reset();
  database_ =
      std::make_unique<SQLite::Database>(file_.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE, kBusyTimeout_ms);
  Header header = read_header(*database_);
  if (header.is_new()) {
    if (auto made = create_schema(); !made) return made;
    header = read_header(*database_);
  }
  if (header.application != kApplicationId)
    return failure("'" + file_.string() + "' is a database of another program", "move it away, or delete it");
  if (header.version > kSchemaVersion)
    return failure("'" + file_.string() + "' was written by a newer kagent (schema " + std::to_string(header.version) +
                       ", this one reads up to " + std::to_string(kSchemaVersion) + ")",
                   "use the newer kagent, or delete the file: trials will be repeated");
  if (header.version < kSchemaVersion) return migrate();
  return {};
}

// Throws SQLite::Exception. Another process may have done it meanwhile.
Result<void> TrialDatabase::migrate() {
  SQLite::Transaction transaction(*database_, SQLite::TransactionBehavior::IMMEDIATE);
  if (pragma(*database_, "user_version") >= kSchemaVersion) return {};
  database_->exec(kToSchema2);
  database_->exec(kLessons);
  database_->exec("PRAGMA user_version = " + std::to_string(kSchemaVersion));
  transaction.commit();
  return {};
}

// One process makes the schema; the others wait for it here and find it made. Throws SQLite::Exception.
Result<void> TrialDatabase::create_schema() {
  auto lock = util::FileLock::acquire(lock_file(), "makes the trials' file");
  if (!lock) return std::unexpected(lock.error());
  if (!read_header(*database_).is_new()) return {};
  // Where WAL is impossible (some network file systems) SQLite keeps its rollback journal, which is as safe.
  database_->execAndGet("PRAGMA journal_mode = WAL");
  SQLite::Transaction transaction(*database_, SQLite::TransactionBehavior::IMMEDIATE);
  database_->exec(kSchema);
  database_->exec(kLessons);
  database_->exec("PRAGMA application_id = " + std::to_string(kApplicationId));
  database_->exec("PRAGMA user_version = " + std::to_string(kSchemaVersion));
  transaction.commit();
  return {};
}

bool TrialDatabase::is_sound() const {
  try {
    SQLite::Database database(file_.string(), SQLite::OPEN_READWRITE, kBusyTimeout_ms);
    return database.execAndGet("PRAGMA quick_check(1)").getString() == "ok";
  } catch (const SQLite::Exception&) {
    return false;
  }
}

Result<void> TrialDatabase::replace_damaged() {
  auto lock = util::FileLock::acquire(lock_file().string() + ".damaged", "replaces a damaged file of trials");
  if (!lock) return std::unexpected(lock.error());
  database_.reset();
  // Another process may have replaced it while this one waited.
  if (!is_sound()) {
    std::string now = util::utc_now();
    std::erase(now, ':');
    const std::string aside = file_.string() + ".damaged-" + now + "-" + std::to_string(::getpid());
    std::error_code error;
    fs::rename(file_, aside, error);
    if (error && error != std::errc::no_such_file_or_directory)
      return failure("'" + file_.string() + "' is damaged and cannot be moved aside: " + error.message());
    for (const char* ending : {"-wal", "-shm"}) fs::rename(file_.string() + ending, aside + ending, error);
    notice_ = "'" + file_.string() + "' was damaged: moved to '" + aside + "', trials start anew";
  }
  try {
    return connect();
  } catch (const SQLite::Exception& error) {
    return std::unexpected(explain(error));
  }
}

bool TrialDatabase::is_damage(const SQLite::Exception& error) {
  return error.getErrorCode() == kSqliteCorrupt || error.getErrorCode() == kSqliteNotADatabase;
}

StageError TrialDatabase::explain(const SQLite::Exception& error) const {
  constexpr int kSqliteFull = 13, kSqliteReadOnly = 8, kSqliteCannotOpen = 14, kSqliteBusy = 5;
  std::string fix;
  switch (error.getErrorCode()) {
    case kSqliteFull:
      fix = "free some space on its disk";
      break;
    case kSqliteReadOnly:
    case kSqliteCannotOpen:
      fix = "make the file and its folder writable";
      break;
    case kSqliteBusy:
      fix = "see which process holds it: fuser '" + file_.string() + "'";
      break;
    default:
      break;
  }
  return {"trials in '" + file_.string() + "': " + error.what(), fix};
}

fs::path TrialDatabase::lock_file() const {
  return file_.string() + ".lock";
}

}  // namespace kagent::store
