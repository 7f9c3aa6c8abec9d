// SPDX-License-Identifier: Apache-2.0
#include "loop/replay.h"

#include <algorithm>
#include <cstdlib>

#include <gmock/gmock.h>

#include "loop/course.h"
#include "loop/planted_project.h"
#include "loop/tuning_options.h"
#include "store/trial_store.h"

// Runs with a real program as the proposer, and their replays.
namespace kagent::loop {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

const std::function<bool()> kNever = [] { return false; };

class ReplayTest : public ::testing::Test {
 protected:
  ReplayTest() {
    put("good.txt", R"({"hypothesis": "the inner loop only copies", "change": "without the inner loop",
 "edits": [{"search": "    for (int k = 1; k < work; ++k) {\n      volatile float kept = value;\n      value = kept;\n    }\n",
            "replace": ""},
           {"search": "  constexpr int work = WORK;\n", "replace": ""}]}
)");
    put("broken.txt", R"({"hypothesis": "doubled by a sum", "change": "a sum",
 "edits": [{"search": "    y[i] = 2 * value + SPARE * 0;\n", "replace": "    y[i] = undeclared + value;\n"}]})");
    put("repaired.txt", R"({"hypothesis": "h", "change": "c",
 "edits": [{"search": "undeclared", "replace": "value"}]})");
    put("config/kagent/config.json", R"({"models": {"program": {"api": "command", "command": ["/bin/sh", ")" +
                                         (tools_.path() / "answer.sh").string() + R"("]}}})");
    ::setenv("XDG_CONFIG_HOME", (tools_.path() / "config").c_str(), 1);
  }
  ~ReplayTest() override { ::unsetenv("XDG_CONFIG_HOME"); }

  void put(const std::string& name, const std::string& text) const {
    fs::create_directories((tools_.path() / name).parent_path());
    ASSERT_TRUE(util::write_file_atomically(tools_.path() / name, text));
  }
  // The n-th prompt is answered with the n-th of these files, and further ones with nonsense.
  void answer_with(const std::vector<std::string>& names) const {
    std::string script =
        "cd '" + tools_.path().string() +
        "'\ncat >prompt\nn=$(cat count 2>/dev/null || echo 0)\nn=$((n + 1))\necho $n >count\ncase $n in\n";
    for (std::size_t i = 0; i < names.size(); ++i) script += std::to_string(i + 1) + ") cat " + names[i] + " ;;\n";
    put("answer.sh", script + "*) echo 'I would rather talk about the weather.' ;;\nesac\n");
  }
  TuningResult run(int rounds, int width) {
    TuningOptions options = tuning_options(project_.variants());
    options.rounds = rounds;
    options.width = width;
    options.time_budget = std::chrono::seconds(300);
    options.proposer.name = "command";
    options.proposer.project = project_.root();
    store::VariantStore variants = project_.variants();
    const build_step::KernelContext context = project_.context();
    RecordingObserver observer;
    return require(tune(context, variants, options, observer, kNever));
  }
  fs::path record() const { return require(recorded_run(project_.variants().state_folder())).value(); }
  ReplayReport replay() {
    store::VariantStore variants = project_.variants();
    const build_step::KernelContext context = project_.context();
    observer_.events.clear();
    return require(replay_run(context, variants, record(), observer_, kNever));
  }
  // Every branch and every file of kagent's own with its contents.
  std::string state() const {
    return project_.shell("git branch -a -v; cd .git/kagent; find . -type f | sort | xargs sha256sum");
  }
  // The first `from` behind the first `where`.
  void change(const fs::path& file, const std::string& where, const std::string& from, const std::string& to) const {
    std::string text = require(util::read_file(file));
    const auto at = text.find(from, text.find(where));
    ASSERT_NE(at, std::string::npos) << from;
    ASSERT_TRUE(util::write_file_atomically(file, text.replace(at, from.size(), to)));
  }

  PlantedProject project_;
  util::TemporaryFolder tools_;
  RecordingObserver observer_;
};

TEST_F(ReplayTest, decides_a_whole_run_again_from_its_record_alone) {
  answer_with({"good.txt", "broken.txt", "repaired.txt"});
  const TuningResult then = run(2, 2);
  ASSERT_TRUE(then.variant) << then.reason;
  const std::string asked = require(util::read_file(tools_.path() / "count"));
  const std::string before = state();

  const ReplayReport report = replay();
  EXPECT_EQ(report.departure, "");
  EXPECT_TRUE(report.complete);
  EXPECT_GE(report.exchanges, 3);
  EXPECT_EQ(report.other_prompts, 0) << report.other_prompt;
  EXPECT_EQ(report.result.reason, then.reason);
  EXPECT_EQ(report.result.trials, then.trials);
  ASSERT_TRUE(report.result.variant);
  EXPECT_EQ(report.result.variant->reference, then.variant->reference);
  EXPECT_EQ(report.result.variant->evidence.against_baseline.low, then.variant->evidence.against_baseline.low);
  EXPECT_EQ(report.result.usage.at("draft").output_tokens, then.usage.at("draft").output_tokens);
  // Nothing was compiled, measured, asked or kept.
  EXPECT_TRUE(observer_.all<Preparing>().empty());
  EXPECT_TRUE(observer_.all<MeasuringFinalist>().empty());
  EXPECT_EQ(require(util::read_file(tools_.path() / "count")), asked);
  EXPECT_EQ(state(), before);
  // Whoever reads its lines is told.
  EXPECT_THAT(observer_.all<RunStarted>().at(0).kernel, HasSubstr("replayed, nothing is measured"));
}

TEST_F(ReplayTest, notices_what_was_changed_after_the_run) {
  answer_with({"good.txt"});
  ASSERT_TRUE(run(1, 1).variant);
  const fs::path course = Course::file_in(record());
  const std::string original = require(util::read_file(course));

  // One more sample of each program in every pair of the first finalist: the judge decides from them.
  std::string changed = original;
  const std::size_t judged = changed.find(R"("step":"judged")");
  ASSERT_NE(judged, std::string::npos);
  for (const std::string samples : {R"("incumbent_ns":[)", R"("candidate_ns":[)"})
    for (std::size_t at = changed.find(samples, judged); at != std::string::npos; at = changed.find(samples, at + 1))
      changed.insert(at + samples.size(), "1,");
  ASSERT_TRUE(util::write_file_atomically(course, changed));
  EXPECT_THAT(replay().departure, HasSubstr("the judge decides otherwise than it did"));

  ASSERT_TRUE(util::write_file_atomically(course, original));
  ASSERT_EQ(replay().departure, "");
  // The prompt alone, and then the answer.
  const fs::path exchange = record() / "exchange-001.json";
  change(exchange, "\"request\"", "void scale", "void  scale");
  EXPECT_EQ(replay().departure, "");
  EXPECT_EQ(replay().other_prompts, 1);
  change(exchange, "\"reply\"", "constexpr int work = WORK;", "constexpr int work = WORKS;");
  EXPECT_THAT(replay().departure, testing::Not(""));
}

TEST_F(ReplayTest, follows_a_run_that_was_cut_short_up_to_there) {
  answer_with({"good.txt"});
  run(1, 1);
  const fs::path course = Course::file_in(record());
  const std::string text = require(util::read_file(course));
  // Killed while it wrote what was found out of the first batch.
  ASSERT_TRUE(util::write_file_atomically(course, text.substr(0, text.find(R"("step":"batch")") + 60)));
  const ReplayReport report = replay();
  EXPECT_EQ(report.departure, "");
  EXPECT_FALSE(report.complete);
  EXPECT_FALSE(report.result.variant);
}

TEST_F(ReplayTest, of_other_inputs_is_refused) {
  answer_with({"good.txt"});
  run(1, 1);
  const fs::path folder = record();
  project_.write("src/scale.h", "void scale(const float* x, float* y, int n);  // changed\n");
  store::VariantStore variants = project_.variants();
  const build_step::KernelContext context = project_.context();
  const auto refused = replay_run(context, variants, folder, observer_, kNever);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("other inputs of scale"));
}

TEST_F(ReplayTest, of_a_damaged_record_names_it) {
  ASSERT_TRUE(util::write_file_atomically(Course::file_in(tools_.path()), "{\"step\": \"begin\"}\n"));
  const auto course = Course::replay(tools_.path());
  ASSERT_FALSE(course);
  EXPECT_THAT(course.error().message, HasSubstr("course.jsonl"));
  ASSERT_TRUE(util::write_file_atomically(Course::file_in(tools_.path()), ""));
  EXPECT_FALSE(Course::replay(tools_.path()));
  EXPECT_FALSE(require(recorded_run(tools_.path() / "config")));
}

}  // namespace
}  // namespace kagent::loop
