// SPDX-License-Identifier: Apache-2.0
#include "loop/agent_session.h"

#include <gmock/gmock.h>

#include "build_step/pick.h"
#include "loop/planted_project.h"
#include "loop/tuning_options.h"
#include "proposer/model/record.h"
#include "store/trial_store.h"

namespace kagent::loop {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

const std::function<bool()> kNever = [] { return false; };

constexpr const char* kGoodAnswer = R"(The inner loop does the same work over and over.
{"hypothesis": "the loop over k only copies", "change": "without the inner loop", "expected_speedup": 20,
 "edits": [{"search": "    for (int k = 1; k < work; ++k) {\n      volatile float kept = value;\n      value = kept;\n    }\n",
            "replace": ""},
           {"search": "  constexpr int work = WORK;\n", "replace": ""}]}
)";

class AgentSessionTest : public ::testing::Test {
 protected:
  // As a process of its own sees it: everything anew from disk.
  struct Step {
    explicit Step(const PlantedProject& project) : context(project.context()), variants(project.variants()) {
      options = tuning_options(variants);
      options.width = 2;
      session.emplace(context, variants, options, observer, kNever);
    }
    build_step::KernelContext context;
    store::VariantStore variants;
    TuningOptions options;
    RecordingObserver observer;
    std::optional<AgentSession> session;
  };

  std::string brief(const SessionLimits& limits = {}) const {
    Step step(project_);
    step.session->open(limits);
    const proposer::Prompt prompt = step.session->brief("", false);
    return prompt.system + prompt.text();
  }
  SubmitReport submit(const std::vector<Submission>& submissions) const {
    return Step(project_).session->submit(submissions, "some-model");
  }
  static Submission source(const std::string& text) { return {"source.cpp", text, true}; }

  PlantedProject project_;
  SessionLimits limits_{.rounds = 6, .time_budget_s = 600, .min_gain = 0.02, .goal_speedup = std::nullopt};
};

TEST_F(AgentSessionTest, a_proven_answer_becomes_a_generation_at_once_and_the_next_process_knows) {
  EXPECT_THAT(brief(limits_), HasSubstr("void scale(const float* x, float* y, int n)"));
  const SubmitReport report = submit({{"answer.txt", kGoodAnswer, false}});
  ASSERT_EQ(report.results.size(), 1u);
  ASSERT_TRUE(report.results[0].trial) << report.results[0].problem;
  EXPECT_EQ(report.results[0].trial->outcome, Outcome::ok) << report.results[0].diagnostics;
  ASSERT_EQ(report.results[0].trial->cases.size(), 1u);
  EXPECT_EQ(report.results[0].trial->cases[0].case_name, "large");
  EXPECT_THAT(report.results[0].trial->reflection, StartsWith("expected 20.00x"));
  ASSERT_EQ(report.accepted.size(), 1u);
  const Evidence& evidence = report.accepted[0].evidence;
  EXPECT_EQ(evidence.proposer, "agent");
  EXPECT_EQ(evidence.model, "some-model");
  EXPECT_FALSE(evidence.reviewed);  // the first of its architecture

  Step next(project_);
  EXPECT_EQ(next.session->record()->rounds_done, 1);
  const auto exchanges = require(proposer::model::read_exchanges(next.options.bench.state_folder / "sessions"));
  ASSERT_EQ(exchanges.size(), 1u);
  EXPECT_THAT(exchanges[0].request.messages.at(1).text, HasSubstr("void scale(const float* x, float* y, int n)"));
  EXPECT_EQ(exchanges[0].result->text, kGoodAnswer);
  EXPECT_EQ(next.session->record()->accepted.size(), 1u);
  EXPECT_EQ(next.session->status().incumbent.value_or(""), report.accepted[0].reference);
  const proposer::Prompt again = next.session->brief("", false);
  EXPECT_THAT(again.text(), testing::Not(HasSubstr("for (int k = 1")));

  const TuningResult result = next.session->finish();
  EXPECT_EQ(result.variant->reference, report.accepted[0].reference);
  EXPECT_FALSE(Step(project_).session->record());
  const build_step::Pick pick = require(build_step::pick(project_.request(), project_.variants()));
  EXPECT_EQ(pick.choices.front().variant->reference, report.accepted[0].reference);
}

TEST_F(AgentSessionTest, each_kind_of_bad_answer_is_told_what_is_wrong) {
  brief(limits_);
  const SubmitReport report = submit({
      {"empty.txt", "", false},
      {"missed.txt", R"({"hypothesis": "h", "edits": [{"search": "not in the source", "replace": ""}]})", false},
      source("#include \"scale.h\"\nvoid scale(const float* x, float* y, int n) { for (int i = 0; i < n; ++i) y[i] = "
             "undeclared(x[i]); }\n"),
      source("#include \"scale.h\"\n"
             "void scale(const float* x, float* y, int n) { for (int i = 0; i < n; ++i) y[i] = 3 * x[i]; }\n"),
      source("#include \"scale.h\"\n"
             "void scale(const float* x, float* y, int n) { for (int i = 0; i < n; ++i) y[i] = 3 * x[i]; }\n"),
  });
  ASSERT_EQ(report.results.size(), 5u);
  EXPECT_THAT(report.results[0].problem, StartsWith("empty"));
  EXPECT_THAT(report.results[1].problem, StartsWith("not_found"));
  EXPECT_EQ(report.results[2].trial->outcome, Outcome::compile_failed);
  EXPECT_THAT(report.results[2].diagnostics, HasSubstr("undeclared"));
  EXPECT_EQ(report.results[3].trial->outcome, Outcome::wrong_result);
  EXPECT_THAT(report.results[3].diagnostics, HasSubstr("y["));
  EXPECT_THAT(report.results[4].problem, HasSubstr("the same candidate"));
  EXPECT_TRUE(report.accepted.empty());
  const SubmitReport again = submit({source(report.results[3].trial->candidate.source)});
  EXPECT_THAT(again.results[0].problem, HasSubstr("on record: wrong_result"));
}

TEST_F(AgentSessionTest, what_an_agent_reports_is_counted_kept_with_the_variant_and_ends_the_session) {
  limits_.tokens = 1000;
  brief(limits_);
  const Usage first{.input_tokens = 300, .cached_tokens = 200, .output_tokens = 101, .cost = 0.5, .seconds = 0};
  Step(project_).session->submit({{"a.txt", "no answer", false}, {"b.txt", "none here either", false}}, "", first);
  const Usage second{.input_tokens = 500, .cached_tokens = 0, .output_tokens = 100, .cost = 0.25, .seconds = 0};
  const SubmitReport report = Step(project_).session->submit({{"answer.txt", kGoodAnswer, false}}, "m", second);
  ASSERT_EQ(report.accepted.size(), 1u);
  EXPECT_EQ(report.accepted[0].evidence.usage.input_tokens, 500);
  EXPECT_EQ(report.accepted[0].evidence.usage.cost, 0.25);
  EXPECT_EQ(report.results[0].trial->candidate.role, "agent");

  Step next(project_);
  EXPECT_EQ(next.session->record()->reported.input_tokens, 800);
  EXPECT_EQ(next.session->record()->reported.output_tokens, 201);
  EXPECT_EQ(next.session->record()->reports, 3);
  EXPECT_THAT(next.session->reason_to_stop().value_or(""), HasSubstr("budget of 1000 tokens"));
  const auto exchanges = require(proposer::model::read_exchanges(next.options.bench.state_folder / "sessions"));
  ASSERT_EQ(exchanges.size(), 3u);
  EXPECT_TRUE(exchanges[0].result->usage_reported);
  EXPECT_EQ(exchanges[0].result->usage.output_tokens + exchanges[1].result->usage.output_tokens, 101);
  EXPECT_EQ(next.session->finish().usage.at("agent").output_tokens, 201);
}

TEST_F(AgentSessionTest, reads_what_another_process_did_while_this_one_waited) {
  brief(limits_);
  Step early(project_);  // has read the session
  submit({{"nothing.txt", "no answer at all", false}});
  early.session->submit({{"nothing.txt", "no answer either", false}}, "");
  Step next(project_);
  EXPECT_EQ(next.session->record()->rounds_done, 2);
  EXPECT_EQ(next.session->record()->exchanges, 2);
}

TEST_F(AgentSessionTest, the_profile_changes_nothing_of_what_was_shown) {
  brief(limits_);
  Step step(project_);
  const auto folder =
      session_folder(sessions_folder(step.options.bench.state_folder, "scale", step.context.architecture), 1);
  const std::string before = require(util::read_file(folder / "session.json"));
  EXPECT_EQ(step.session->profiled().bottlenecks.size(), 1u);
  EXPECT_EQ(require(util::read_file(folder / "session.json")), before);
}

TEST_F(AgentSessionTest, opened_before_agents_could_report_goes_on) {
  brief(limits_);
  Step step(project_);
  const auto file =
      session_folder(sessions_folder(step.options.bench.state_folder, "scale", step.context.architecture), 1) /
      "session.json";
  std::string text = require(util::read_file(file));
  const auto begin = text.find("  \"reports\""), end = text.find("  \"accepted\"");
  ASSERT_LT(begin, end);
  ASSERT_TRUE(util::write_file_atomically(file, text.erase(begin, end - begin)));
  EXPECT_EQ(Step(project_).session->record()->reports, 0);
}

TEST_F(AgentSessionTest, tunables_that_an_answer_brings_are_searched_before_anything_is_judged) {
  brief(limits_);
  const std::string text =
      R"({"hypothesis": "h", "change": "steps", "tunables": [{"name": "STEPS", "values": [30, 1, 15]}],
 "edits": [{"search": "  constexpr int work = WORK;\n", "replace": "  constexpr int work = STEPS;\n"}]})";
  const SubmitReport report = submit({{"answer.txt", text, false}});
  ASSERT_TRUE(report.results[0].tuned) << report.results[0].problem;
  EXPECT_EQ(report.results[0].tuned->candidate.tunables.at("STEPS"), 1);
  ASSERT_FALSE(report.accepted.empty());
  EXPECT_EQ(report.accepted.back().evidence.tunables.at("STEPS"), 1);
}

TEST_F(AgentSessionTest, ends_by_itself_and_says_why) {
  limits_.rounds = 1;
  brief(limits_);
  submit({{"nothing.txt", "no answer at all", false}});
  Step step(project_);
  EXPECT_THAT(step.session->reason_to_stop().value(), HasSubstr("all 1 rounds"));
  EXPECT_THROW(step.session->submit({source("x")}, ""), UserError);
  EXPECT_THAT(step.session->finish().reason, HasSubstr("all 1 rounds"));
  auto trials = require(store::TrialStore::open(step.options.bench.state_folder / "trials.sqlite"));
  const auto conclusion = require(trials.conclusion("scale", step.context.architecture, step.context.key.hash()));
  ASSERT_TRUE(conclusion);
  EXPECT_FALSE(conclusion->improved());
}

TEST_F(AgentSessionTest, without_a_submission_leaves_no_result_to_remember) {
  brief(limits_);
  Step step(project_);
  step.session->finish();
  auto trials = require(store::TrialStore::open(step.options.bench.state_folder / "trials.sqlite"));
  EXPECT_FALSE(require(trials.conclusion("scale", step.context.architecture, step.context.key.hash())));
}

TEST_F(AgentSessionTest, goes_on_where_the_project_was_copied_to) {
  brief(limits_);
  submit({{"answer.txt", kGoodAnswer, false}});
  PlantedProject copy;
  copy.shell("rm -rf .git && cp -r '" + (project_.root() / ".git").string() + "' .git");
  Step there(copy);
  ASSERT_TRUE(there.session->record());
  EXPECT_EQ(there.session->record()->rounds_done, 1);
  EXPECT_THAT(there.session->brief("", false).text(), testing::Not(HasSubstr("for (int k = 1")));
  EXPECT_FALSE(there.session->finish().reason.empty());
}

TEST_F(AgentSessionTest, of_changed_inputs_asks_to_be_concluded) {
  brief(limits_);
  project_.write("golden/scale/reference.cpp",
                 "void scale_reference(const double* x, double* y, int n) "
                 "{ for (int i = 0; i < n; ++i) y[i] = x[i] + x[i]; }\n");
  Step step(project_);
  try {
    step.session->brief("", false);
    FAIL() << "no error";
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), HasSubstr("changed since session 1"));
    EXPECT_THAT(error.fix(), HasSubstr("finish"));
  }
  step.session->finish();
  EXPECT_FALSE(Step(project_).session->record());
}

TEST_F(AgentSessionTest, without_a_session_says_how_to_open_one) {
  Step step(project_);
  EXPECT_THROW(step.session->submit({source("x")}, ""), UserError);
  EXPECT_THROW(step.session->finish(), UserError);
  EXPECT_FALSE(step.session->reason_to_stop());
}

TEST_F(AgentSessionTest, a_damaged_record_names_its_file) {
  brief(limits_);
  Step step(project_);
  const auto file =
      session_folder(sessions_folder(step.options.bench.state_folder, "scale", step.context.architecture), 1) /
      "session.json";
  ASSERT_TRUE(util::write_file_atomically(file, "{"));
  try {
    Step broken(project_);
    FAIL() << "no error";
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), HasSubstr("session.json"));
  }
}

}  // namespace
}  // namespace kagent::loop
