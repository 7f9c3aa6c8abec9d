// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "loop/planted_project.h"
#include "loop/tuning_options.h"
#include "store/trial_store.h"

// Whole runs with a real program as the proposer: a shell script that answers with a good edit, an edit that does not
// apply, and garbage, in turn.
namespace kagent::loop {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

const std::function<bool()> kNever = [] { return false; };

class CommandRunTest : public ::testing::Test {
 protected:
  CommandRunTest() {
    put("good.txt", R"(Here is my answer.
{"hypothesis": "the inner loop only copies", "change": "without the inner loop", "expected_speedup": 20,
 "edits": [{"search": "    for (int k = 1; k < work; ++k) {\n      volatile float kept = value;\n      value = kept;\n    }\n",
            "replace": ""},
           {"search": "  constexpr int work = WORK;\n", "replace": ""}]}
)");
    put("bad.txt", R"({"hypothesis": "h", "edits": [{"search": "nothing like this is there\n", "replace": ""}]})");
    put("answer.sh", "cd '" + tools_.path().string() +
                         "'\n"
                         "n=$(cat count 2>/dev/null || echo 0)\n"
                         "n=$((n + 1))\n"
                         "echo $n >count\n"
                         "cat >prompt$n\n"
                         "case $n in\n"
                         "1) cat good.txt ;;\n"
                         "2) cat bad.txt ;;\n"
                         "*) echo 'I would rather talk about the weather.' ;;\n"
                         "esac\n");
    put("config/kagent/config.json", R"({"models": {"program": {"api": "command", "command": ["/bin/sh", ")" +
                                         (tools_.path() / "answer.sh").string() + R"("]}}})");
    ::setenv("XDG_CONFIG_HOME", (tools_.path() / "config").c_str(), 1);
  }
  ~CommandRunTest() override { ::unsetenv("XDG_CONFIG_HOME"); }

  void put(const std::string& name, const std::string& text) const {
    fs::create_directories((tools_.path() / name).parent_path());
    ASSERT_TRUE(util::write_file_atomically(tools_.path() / name, text));
  }
  TuningOptions options(const PlantedProject& project, const std::string& proposer) const {
    TuningOptions options = tuning_options(project.variants());
    options.rounds = 1;
    options.width = 2;
    options.time_budget = std::chrono::seconds(300);
    options.proposer.name = proposer;
    options.proposer.project = project.root();
    return options;
  }
  TuningResult run(const PlantedProject& project, const TuningOptions& options) {
    store::VariantStore variants = project.variants();
    const build_step::KernelContext context = project.context();
    return require(tune(context, variants, options, observer_, kNever));
  }
  // Hash and change of what the proposer brought, in order.
  static std::vector<std::string> written(const PlantedProject& project, const std::string& proposer) {
    auto store = require(store::TrialStore::open(project.variants().state_folder() / "trials.sqlite"));
    const build_step::KernelContext context = project.context();
    std::vector<std::string> found;
    for (const Trial& trial : require(store.trials("scale", context.architecture, context.key.hash())))
      if (trial.candidate.proposer == proposer) found.push_back(trial.candidate_hash + " " + trial.candidate.change);
    return found;
  }

  util::TemporaryFolder tools_;
  RecordingObserver observer_;
};

TEST_F(CommandRunTest, keeps_the_good_edit_and_survives_the_others) {
  const PlantedProject project;
  const TuningResult result = run(project, options(project, "command"));
  ASSERT_TRUE(result.variant) << result.reason;
  EXPECT_LT(result.variant->evidence.against_baseline.ratio, 0.5);  // the script's, or the search's own best
  EXPECT_THAT(require(util::read_file(tools_.path() / "prompt1")),
              HasSubstr("void scale(const float* x, float* y, int n)"));
  // The edit that did not apply was answered with what is wrong with it.
  EXPECT_THAT(require(util::read_file(tools_.path() / "prompt3")), HasSubstr("nothing like this is there"));
  ASSERT_EQ(written(project, "command").size(), 1u);
  auto store = require(store::TrialStore::open(project.variants().state_folder() / "trials.sqlite"));
  for (const Trial& trial : require(store.recent("scale", 100)))
    if (trial.candidate.proposer == "command") {
      EXPECT_LT(trial.score.value_or(1), 0.5) << trial.detail;
      EXPECT_THAT(trial.reflection, testing::StartsWith("expected 20.00x"));
    }
  EXPECT_GT(result.usage.at("draft").output_tokens, 0);
  EXPECT_EQ(result.answers.asked, 2);
  EXPECT_EQ(result.answers.read, 1);
  EXPECT_EQ(result.answers.applied, 1);
  EXPECT_EQ(result.answers.compiled, 1);
  EXPECT_EQ(result.answers.passed, 1);
  EXPECT_EQ(result.answers.lost, (std::map<std::string, int>{{"no_object", 1}}));
  EXPECT_EQ(observer_.all<Answered>().size(), 1u);
  // The records have all of it, the answers that were lost too.
  const build_step::KernelContext context = project.context();
  const auto recorded =
      recorded_usage(exchanges_folder(project.variants().state_folder(), "scale", context.architecture));
  ASSERT_EQ(recorded.count("draft"), 1u);
  EXPECT_EQ(recorded.at("draft").input_tokens, result.usage.at("draft").input_tokens);
  EXPECT_EQ(recorded.at("draft").output_tokens, result.usage.at("draft").output_tokens);
}

TEST_F(CommandRunTest, a_replay_brings_the_same_candidates_without_the_program) {
  const PlantedProject first, second;
  run(first, options(first, "command"));
  ASSERT_TRUE(util::write_file_atomically(tools_.path() / "answer.sh", "exit 1\n"));
  TuningOptions again = options(second, "replay");
  again.proposer.replay = first.variants().state_folder() / "candidates";
  const TuningResult result = run(second, again);
  ASSERT_TRUE(result.variant) << result.reason;
  EXPECT_EQ(written(second, "replay"), written(first, "command"));
}

TEST_F(CommandRunTest, what_would_be_sent_is_printed_and_not_sent) {
  const PlantedProject project;
  store::VariantStore variants = project.variants();
  const build_step::KernelContext context = project.context();
  const std::string text = require(preview_request(context, variants, options(project, "command"), observer_, kNever));
  EXPECT_THAT(text, HasSubstr("void scale(const float* x, float* y, int n)"));
  EXPECT_FALSE(fs::exists(tools_.path() / "count"));
}

}  // namespace
}  // namespace kagent::loop
