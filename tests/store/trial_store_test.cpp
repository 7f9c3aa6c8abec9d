// SPDX-License-Identifier: Apache-2.0
#include "store/trial_store.h"

#include <cstdio>
#include <set>
#include <stdexcept>

#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/files.h"

namespace kagent::store {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

Trial example_trial(const std::string& candidate_hash) {
  Trial trial;
  trial.kernel = "softmax";
  trial.architecture = "x86-64-v3";
  trial.key = "key";
  trial.candidate_hash = candidate_hash;
  trial.object_hash = "object";
  trial.candidate = {"source", {{"BLOCK", 64}}, "search", "why"};
  trial.outcome = Outcome::wrong_result;
  trial.detail = "y[3]: got 1, expected 2";
  trial.compile_s = 0.5;
  trial.started = "2026-01-31T12:00:00Z";
  return trial;
}

class TrialStoreTest : public testing::Test {
 protected:
  TrialStore open() {
    auto store = TrialStore::open(file);
    if (!store) throw std::runtime_error(store.error().message);
    return std::move(*store);
  }
  int count(const std::string& table) {
    return SQLite::Database(file.string()).execAndGet("SELECT count(*) FROM " + table).getInt();
  }
  std::vector<fs::path> moved_aside() {
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(file.parent_path()))
      if (entry.path().string().find(".damaged-") != std::string::npos) found.push_back(entry.path());
    return found;
  }
  // The work runs in a process of its own; its exit code says whether it went well.
  template <class Work>
  pid_t start_process(Work work) {
    const pid_t child = ::fork();
    if (child == 0) {
      try {
        work();
      } catch (const std::exception& error) {
        std::fprintf(stderr, "process %d: %s\n", ::getpid(), error.what());
        ::_exit(1);
      }
      ::_exit(0);
    }
    return child;
  }
  static bool ended_well(pid_t child) {
    int status = 0;
    return ::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }

  util::TemporaryFolder folder{"kagent-trials"};
  fs::path file = folder.path() / "state" / "trials.sqlite";
};

TEST_F(TrialStoreTest, gives_back_a_trial_as_it_was) {
  TrialStore store = open();
  Trial trial = example_trial("a");
  trial.score = 12.5;
  auto id = store.add(trial);
  ASSERT_TRUE(id) << id.error().message;
  auto trials = store.trials("softmax", "x86-64-v3", "key");
  ASSERT_TRUE(trials) << trials.error().message;
  ASSERT_EQ(trials->size(), 1u);
  const Trial& read = trials->front();
  EXPECT_EQ(read.id, *id);
  EXPECT_EQ(read.candidate.source, "source");
  EXPECT_EQ(read.candidate.tunables, trial.candidate.tunables);
  EXPECT_EQ(read.candidate.hypothesis, "why");
  EXPECT_EQ(read.outcome, Outcome::wrong_result);
  EXPECT_EQ(read.detail, trial.detail);
  EXPECT_EQ(read.score, 12.5);
  EXPECT_EQ(read.compile_s, 0.5);
  EXPECT_EQ(read.started, trial.started);
}

TEST_F(TrialStoreTest, gives_back_all_that_a_proposer_said) {
  TrialStore store = open();
  Trial trial = example_trial("a");
  Candidate& candidate = trial.candidate;
  const auto expression = [](const char* text) { return *Expression::parse(text); };
  candidate.launch = Launch{.grid = {expression("n / 4"), expression("1"), expression("1")},
                            .block = {expression("64"), expression("1"), expression("1")},
                            .cluster = std::array{expression("2"), expression("1"), expression("1")},
                            .shared_memory = std::nullopt,
                            .instance = ""};
  candidate.own_tunables = {{"ROWS", {4, 1, 2}}};
  candidate.own_constraints = {"ROWS <= 2"};
  candidate.parent = "parent";
  candidate.second_parent = "other";
  candidate.change = "rows in registers";
  candidate.bottleneck = "memory bandwidth";
  candidate.expected_speedup = 1.25;
  candidate.role = "draft";
  candidate.model = "some-model \xff";
  candidate.usage = {10, 5, 3, 0.5, 1.5};
  trial.reflection = "expected 1.25x, measured 1.1x";
  trial.error_over_bound = 0.25;
  trial.cases = {{"large", 0.8, 1000.5, 800.25}};
  ASSERT_TRUE(store.add(trial));
  const Trial read = store.trials("softmax", "x86-64-v3", "key")->front();
  EXPECT_EQ(read.candidate.launch->grid[0].text(), "n / 4");
  EXPECT_EQ(read.candidate.launch->cluster->at(0).text(), "2");
  EXPECT_FALSE(read.candidate.launch->shared_memory);
  EXPECT_EQ(read.candidate.own_tunables.at(0).values, (std::vector<std::int64_t>{4, 1, 2}));
  EXPECT_EQ(read.candidate.own_constraints, candidate.own_constraints);
  EXPECT_EQ(read.candidate.parent, "parent");
  EXPECT_EQ(read.candidate.second_parent, "other");
  EXPECT_EQ(read.candidate.change, candidate.change);
  EXPECT_EQ(read.candidate.bottleneck, candidate.bottleneck);
  EXPECT_EQ(read.candidate.expected_speedup, 1.25);
  EXPECT_EQ(read.candidate.role, "draft");
  EXPECT_THAT(read.candidate.model, testing::StartsWith("some-model "));
  EXPECT_EQ(read.candidate.usage.output_tokens, 3);
  EXPECT_EQ(read.reflection, trial.reflection);
  EXPECT_EQ(read.error_over_bound, 0.25);
  ASSERT_EQ(read.cases.size(), 1u);
  EXPECT_EQ(read.cases[0].case_name, "large");
  EXPECT_EQ(read.cases[0].candidate_ns, 800.25);
}

TEST_F(TrialStoreTest, goes_on_with_a_file_of_the_first_schema) {
  { ASSERT_TRUE(open().add(example_trial("a"))); }
  {
    SQLite::Database old(file.string(), SQLite::OPEN_READWRITE);
    for (const char* column : {"details", "reflection", "cases", "error_over_bound"})
      old.exec(std::string("ALTER TABLE trials DROP COLUMN ") + column);
    old.exec("DROP TABLE lessons");
    old.exec("PRAGMA user_version = 1");
  }
  TrialStore store = open();
  EXPECT_EQ(store.trials("softmax", "x86-64-v3", "key")->size(), 1u);
  ASSERT_TRUE(store.add(example_trial("b")));
  EXPECT_EQ(count("lessons"), 0);
}

TEST_F(TrialStoreTest, records_a_candidate_once_and_answers_with_the_first_id) {
  TrialStore store = open();
  const auto first = store.add(example_trial("a"));
  const auto other = store.add(example_trial("b"));
  const auto again = store.add(example_trial("a"));
  ASSERT_TRUE(first && other && again);
  EXPECT_EQ(*first, *again);
  EXPECT_NE(*first, *other);
  EXPECT_EQ(store.trials("softmax", "x86-64-v3", "key")->size(), 2u);
}

TEST_F(TrialStoreTest, keeps_kernels_architectures_and_keys_apart) {
  TrialStore store = open();
  for (auto change : {0, 1, 2, 3}) {
    Trial trial = example_trial("a");
    if (change == 1) trial.kernel = "other";
    if (change == 2) trial.architecture = "x86-64";
    if (change == 3) trial.key = "other";
    ASSERT_TRUE(store.add(trial));
  }
  EXPECT_EQ(count("trials"), 4);
  EXPECT_EQ(store.trials("softmax", "x86-64-v3", "key")->size(), 1u);
}

TEST_F(TrialStoreTest, stores_a_source_once_however_many_trials_use_it) {
  TrialStore store = open();
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(store.add(example_trial(std::to_string(i))));
  EXPECT_EQ(count("sources"), 1);
}

TEST_F(TrialStoreTest, takes_any_bytes_as_text) {
  TrialStore store = open();
  Trial trial = example_trial("a'; DROP TABLE trials; --");
  trial.candidate.source = std::string("zero \0 byte \xFF", 13);
  trial.detail = "";
  ASSERT_TRUE(store.add(trial));
  auto trials = store.trials("softmax", "x86-64-v3", "key");
  ASSERT_TRUE(trials);
  EXPECT_EQ(trials->at(0).candidate.source, trial.candidate.source);
  EXPECT_EQ(trials->at(0).candidate_hash, trial.candidate_hash);
}

TEST_F(TrialStoreTest, updates_the_verdict_of_a_finalist) {
  TrialStore store = open();
  Trial trial = example_trial("a");
  trial.id = *store.add(trial);
  trial.outcome = Outcome::slower;
  trial.score = 3;
  ASSERT_TRUE(store.update(trial));
  EXPECT_EQ(store.trials("softmax", "x86-64-v3", "key")->at(0).outcome, Outcome::slower);
  trial.id = 99;
  EXPECT_THAT(store.update(trial).error().message, HasSubstr("99"));
}

TEST_F(TrialStoreTest, lists_recent_trials_newest_first) {
  TrialStore store = open();
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(store.add(example_trial(std::to_string(i))));
  auto recent = store.recent("softmax", 2);
  ASSERT_TRUE(recent);
  ASSERT_EQ(recent->size(), 2u);
  EXPECT_EQ(recent->at(0).candidate_hash, "4");
}

TEST_F(TrialStoreTest, remembers_the_latest_conclusion) {
  TrialStore store = open();
  EXPECT_FALSE(*store.conclusion("softmax", "x86-64-v3", "key"));
  ASSERT_TRUE(store.conclude({"softmax", "x86-64-v3", "key", "", "rounds used", 7, "2026-01-31T12:00:00Z"}));
  ASSERT_TRUE(store.conclude({"softmax", "x86-64-v3", "key", "kagent/x", "rounds used", 9, "later"}));
  auto conclusion = open().conclusion("softmax", "x86-64-v3", "key");
  ASSERT_TRUE(conclusion && *conclusion);
  EXPECT_TRUE((*conclusion)->improved());
  EXPECT_EQ((*conclusion)->trials, 9);
}

TEST_F(TrialStoreTest, lets_several_processes_open_a_new_file_and_write_at_once) {
  constexpr int kProcesses = 4, kTrials = 25;
  std::vector<pid_t> children;
  for (int process = 0; process < kProcesses; ++process)
    children.push_back(start_process([&] {
      TrialStore store = open();
      // Half of the candidates are common to all processes.
      for (int i = 0; i < kTrials; ++i) {
        const std::string own = std::to_string(process) + "-" + std::to_string(i);
        for (const std::string& hash : {own, "common-" + std::to_string(i)})
          if (auto added = store.add(example_trial(hash)); !added) throw std::runtime_error(added.error().message);
      }
    }));
  for (pid_t child : children) EXPECT_TRUE(ended_well(child));
  auto trials = open().trials("softmax", "x86-64-v3", "key");
  ASSERT_TRUE(trials);
  std::set<std::string> hashes;
  for (const Trial& trial : *trials) hashes.insert(trial.candidate_hash);
  EXPECT_EQ(trials->size(), static_cast<std::size_t>(kProcesses * kTrials + kTrials));
  EXPECT_EQ(hashes.size(), trials->size());
}

TEST_F(TrialStoreTest, loses_nothing_that_was_finished_when_a_writer_is_killed) {
  for (int round = 0; round < 5; ++round) {
    int pipe[2];
    ASSERT_EQ(::pipe(pipe), 0);
    const pid_t child = start_process([&] {
      TrialStore store = open();
      for (int i = 0;; ++i) {
        Trial trial = example_trial(std::to_string(round) + "-" + std::to_string(i));
        trial.candidate.source = std::string(100'000, static_cast<char>('a' + i % 26)) + std::to_string(i);
        if (!store.add(trial)) throw std::runtime_error("not added");
        if (::write(pipe[1], "x", 1) != 1) return;
      }
    });
    ::close(pipe[1]);
    int finished = 0;
    for (char byte; finished < 5 + round && ::read(pipe[0], &byte, 1) == 1;) ++finished;
    ASSERT_EQ(finished, 5 + round);
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    ::close(pipe[0]);
    TrialStore store = open();
    auto trials = store.trials("softmax", "x86-64-v3", "key");
    ASSERT_TRUE(trials) << trials.error().message;
    int of_this_round = 0;
    for (const Trial& trial : *trials) of_this_round += trial.candidate_hash.starts_with(std::to_string(round) + "-");
    EXPECT_GE(of_this_round, finished);
    EXPECT_EQ(store.notice(), "");
    EXPECT_EQ(SQLite::Database(file.string()).execAndGet("PRAGMA integrity_check").getString(), "ok");
  }
}

TEST_F(TrialStoreTest, moves_a_file_that_is_no_database_aside_and_says_so) {
  fs::create_directories(file.parent_path());
  ASSERT_TRUE(util::write_file_atomically(file, std::string(5000, 'x')));
  TrialStore store = open();
  EXPECT_THAT(store.notice(), HasSubstr("was damaged"));
  EXPECT_TRUE(store.add(example_trial("a")));
  ASSERT_EQ(moved_aside().size(), 1u);
  EXPECT_EQ(*util::read_file(moved_aside()[0]), std::string(5000, 'x'));
}

TEST_F(TrialStoreTest, goes_on_with_a_new_file_when_damage_shows_only_in_use) {
  {
    TrialStore store = open();
    for (int i = 0; i < 200; ++i) ASSERT_TRUE(store.add(example_trial(std::to_string(i))));
  }
  // Everything after the first page, which holds the schema.
  const auto size = fs::file_size(file);
  ASSERT_GT(size, 8192u);
  std::string contents = *util::read_file(file);
  std::fill(contents.begin() + 4096, contents.end(), '\x5A');
  ASSERT_TRUE(util::write_file_atomically(file, contents));
  TrialStore store = open();
  EXPECT_EQ(store.notice(), "");
  auto trials = store.trials("softmax", "x86-64-v3", "key");
  ASSERT_TRUE(trials) << trials.error().message;
  EXPECT_TRUE(trials->empty());
  EXPECT_THAT(store.notice(), HasSubstr("was damaged"));
  EXPECT_EQ(moved_aside().size(), 1u);
}

TEST_F(TrialStoreTest, starts_anew_in_an_empty_file) {
  fs::create_directories(file.parent_path());
  ASSERT_TRUE(util::write_file_atomically(file, ""));
  TrialStore store = open();
  EXPECT_TRUE(store.add(example_trial("a")));
  EXPECT_EQ(store.notice(), "");
}

TEST_F(TrialStoreTest, leaves_the_database_of_another_program_alone) {
  fs::create_directories(file.parent_path());
  { SQLite::Database(file.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE).exec("CREATE TABLE theirs (x)"); }
  const std::string before = *util::read_file(file);
  auto store = TrialStore::open(file);
  ASSERT_FALSE(store);
  EXPECT_THAT(store.error().message, HasSubstr("another program"));
  EXPECT_EQ(*util::read_file(file), before);
}

TEST_F(TrialStoreTest, refuses_a_file_of_a_newer_version_and_leaves_it_alone) {
  { ASSERT_TRUE(open().add(example_trial("a"))); }
  { SQLite::Database(file.string(), SQLite::OPEN_READWRITE).exec("PRAGMA user_version = 3"); }
  auto store = TrialStore::open(file);
  ASSERT_FALSE(store);
  EXPECT_THAT(store.error().message, HasSubstr("newer kagent"));
  EXPECT_NE(store.error().fix, "");
  EXPECT_EQ(count("trials"), 1);
}

TEST_F(TrialStoreTest, names_a_path_that_cannot_be_a_file) {
  fs::create_directories(file);
  auto store = TrialStore::open(file);
  ASSERT_FALSE(store);
  EXPECT_THAT(store.error().message, HasSubstr(file.string()));
}

}  // namespace
}  // namespace kagent::store
