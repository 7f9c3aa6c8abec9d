// SPDX-License-Identifier: Apache-2.0
#include "proposer/writing_proposer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "proposer/scripted_model.h"
#include "proposer/writing_fixture.h"

namespace kagent::proposer {
namespace {

using model::Author;
using model::ChatErrorKind;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

std::string answer(const std::string& change, const std::string& search, const std::string& replace,
                   const std::string& members = "") {
  return "{\"bottleneck\": \"arithmetic\", \"hypothesis\": \"why " + change + "\", \"change\": \"" + change +
         "\", \"expected_speedup\": 1.25" + members + "}\n<<<<<<< SEARCH\n" + search + "\n=======\n" + replace +
         "\n>>>>>>> REPLACE\n";
}
const std::string kSum = "    float sum = 0;";

std::string changed(const std::string& replace) {
  std::string text = kSoftmax;
  return text.replace(text.find(kSum), kSum.size(), replace);
}

struct Writing : testing::Test {
  std::shared_ptr<ScriptedModel> draft = std::make_shared<ScriptedModel>("small"),
                                 refine = std::make_shared<ScriptedModel>("large");
  WritingOptions options{.name = "openai", .exchanges_per_context = 6, .structured = false};
  KernelSpec spec = softmax_spec();
  std::vector<Trial> history = softmax_history();
  Brief brief = softmax_brief();

  std::unique_ptr<WritingProposer> make() { return make_model_proposer(draft, refine, options); }
  Proposal proposal() { return {spec, kSoftmax, history, 1, &brief}; }
};
TEST_F(Writing, makes_candidates_of_answers) {
  draft->will_answer(
      answer("double sums", kSum, "    double sum = 0;",
             ", \"tunables\": [{\"name\": \"ROWS\", \"values\": [512, 2, 4]}], \"constraints\": [\"ROWS <= 4\"]"));
  auto proposer = make();
  const auto candidates = proposer->propose(proposal(), 1);
  ASSERT_TRUE(candidates) << candidates.error().message;
  ASSERT_THAT(*candidates, SizeIs(1));
  const Candidate& one = candidates->front();
  EXPECT_EQ(one.source, changed("    double sum = 0;"));
  EXPECT_EQ(one.proposer, "openai");
  EXPECT_EQ(one.hypothesis, "why double sums");
  EXPECT_EQ(one.change, "double sums");
  EXPECT_EQ(one.bottleneck, "arithmetic");
  EXPECT_EQ(one.expected_speedup, 1.25);
  EXPECT_EQ(one.parent, "abc123");
  EXPECT_EQ(one.role, "draft");
  EXPECT_EQ(one.model, "small");
  EXPECT_EQ(one.usage.input_tokens, 100);
  ASSERT_THAT(one.own_tunables, SizeIs(1));
  EXPECT_THAT(one.own_constraints, ElementsAre("ROWS <= 4"));
  // The first value that the constraints allow, and the parent's for the task's own.
  EXPECT_EQ(one.tunables, (TunableValues{{"BLOCK", 128}, {"ROWS", 2}}));
  EXPECT_EQ(proposer->record().applied, 1);
  EXPECT_THAT(proposer->record().lost, IsEmpty());
}

TEST_F(Writing, asks_for_as_many_as_wanted_each_with_another_hypothesis) {
  draft->will_answer(answer("double sums", kSum, "    double sum = 0;"));
  draft->will_answer(answer("two sums", kSum, "    float sum = 0, other = 0;"));
  const auto candidates = make()->propose(proposal(), 2);
  ASSERT_THAT(*candidates, SizeIs(2));
  ASSERT_THAT(draft->asked, SizeIs(2));
  // One conversation, which goes on, so that its beginning stays in the provider's cache.
  EXPECT_EQ(draft->asked[1].messages.size(), 4u);
  EXPECT_EQ(draft->asked[1].messages[1].text, draft->asked[0].messages[1].text);
  EXPECT_TRUE(draft->asked[1].messages[0].stable);
  EXPECT_THAT(draft->asked[1].messages[3].text, HasSubstr("- double sums\n"));
  EXPECT_THAT(draft->asked[1].messages[3].text, HasSubstr("another hypothesis"));
}

TEST_F(Writing, begins_a_new_conversation_after_a_number_of_exchanges) {
  options.exchanges_per_context = 2;
  for (const char* type : {"double", "long double", "volatile float"})
    draft->will_answer(answer(type, kSum, std::string("    ") + type + " sum = 0;"));
  EXPECT_THAT(*make()->propose(proposal(), 3), SizeIs(3));
  ASSERT_THAT(draft->asked, SizeIs(3));
  EXPECT_EQ(draft->asked[2].messages.size(), 2u);
  // What the round has so far, and what earlier rounds brought, is carried over.
  EXPECT_THAT(draft->asked[2].messages[1].text, HasSubstr("- double\n- long double\n"));
  EXPECT_THAT(draft->asked[2].messages[1].text, HasSubstr("vector loads"));
}

TEST_F(Writing, corrects_an_answer_once_in_the_same_conversation) {
  draft->will_answer("{\"hypothesis\": \"cut of");
  draft->will_answer(answer("double sums", kSum, "    double sum = 0;"));
  auto proposer = make();
  const auto candidates = proposer->propose(proposal(), 1);
  ASSERT_THAT(*candidates, SizeIs(1));
  EXPECT_EQ(candidates->front().usage.input_tokens, 200);
  EXPECT_EQ(proposer->record().read, 0);
  EXPECT_EQ(proposer->record().applied, 1);
  ASSERT_THAT(draft->asked, SizeIs(2));
  EXPECT_EQ(draft->asked[1].messages[2].author, Author::assistant);
  EXPECT_THAT(draft->asked[1].messages[3].text, HasSubstr("was cut off"));
}

TEST_F(Writing, answers_an_edit_that_misses_with_the_nearest_lines) {
  draft->will_answer(answer("double sums", "    float total = 0;", "    double sum = 0;"));
  draft->will_answer(answer("double sums", kSum, "    double sum = 0;"));
  EXPECT_THAT(*make()->propose(proposal(), 1), SizeIs(1));
  EXPECT_THAT(draft->asked[1].messages[3].text, HasSubstr(kSum));
}

TEST_F(Writing, loses_an_answer_that_stays_malformed_and_goes_on) {
  draft->will_answer("no");
  draft->will_answer("still no");
  draft->will_answer(answer("double sums", kSum, "    double sum = 0;"));
  auto proposer = make();
  EXPECT_THAT(*proposer->propose(proposal(), 2), SizeIs(1));
  ASSERT_THAT(proposer->record().lost, SizeIs(1));
  EXPECT_EQ(proposer->record().lost[0].problem, "no_object");
  EXPECT_EQ(proposer->record().lost[0].usage.input_tokens, 200);
  EXPECT_EQ(draft->asked.size(), 3u);
}

TEST_F(Writing, never_asks_without_end) {
  for (int i = 0; i < 100; ++i) draft->will_answer("no");
  EXPECT_THAT(*make()->propose(proposal(), 4), IsEmpty());
  EXPECT_EQ(draft->asked.size(), 8u);
}

TEST_F(Writing, lets_the_strong_model_write_what_the_draft_ranks_as_hard) {
  draft->will_answer(answer("online sums", kSum, "    double sum = 0;", ", \"difficulty\": \"hard\""));
  refine->will_answer(answer("online sums, right", kSum, "    float sum = 0, most = 0;"));
  draft->will_answer(answer("two sums", kSum, "    float sum = 0, other = 1;"));
  const auto candidates = make()->propose(proposal(), 2);
  ASSERT_THAT(*candidates, SizeIs(2));
  EXPECT_EQ((*candidates)[0].role, "refine");
  EXPECT_EQ((*candidates)[0].model, "large");
  EXPECT_EQ((*candidates)[0].change, "online sums, right");
  EXPECT_EQ((*candidates)[0].usage.output_tokens, 20);
  EXPECT_EQ((*candidates)[1].role, "draft");
  EXPECT_THAT(refine->asked[0].messages[1].text, HasSubstr("Change: online sums"));
  EXPECT_THAT(refine->asked[0].messages[1].text, HasSubstr("double sum = 0;"));
}

TEST_F(Writing, falls_back_to_the_draft_where_the_strong_model_brings_nothing) {
  draft->will_answer(answer("online sums", kSum, "    double sum = 0;", ", \"difficulty\": \"hard\""));
  refine->will_fail(ChatErrorKind::refused);
  const auto candidates = make()->propose(proposal(), 1);
  ASSERT_THAT(*candidates, SizeIs(1));
  EXPECT_EQ(candidates->front().role, "draft");
}

TEST_F(Writing, keeps_a_hard_draft_where_one_model_has_both_roles) {
  refine = draft;
  draft->will_answer(answer("online sums", kSum, "    double sum = 0;", ", \"difficulty\": \"hard\""));
  EXPECT_THAT(*make()->propose(proposal(), 1), SizeIs(1));
  EXPECT_EQ(draft->asked.size(), 1u);
}

TEST_F(Writing, drops_what_nearly_repeats_another_candidate_or_the_parent) {
  draft->will_answer(answer("double sums", kSum, "    double sum = 0;"));
  draft->will_answer(answer("again", kSum, "    /* new */ double   sum = 0;"));
  draft->will_answer(answer("a comment", kSum, "    float sum = 0;  // fast"));
  auto proposer = make();
  EXPECT_THAT(*proposer->propose(proposal(), 3), SizeIs(1));
  ASSERT_THAT(proposer->record().lost, SizeIs(2));
  EXPECT_EQ(proposer->record().lost[0].problem, "near_duplicate");
  EXPECT_THAT(proposer->record().lost[1].message, HasSubstr("parent"));
}

TEST_F(Writing, reports_a_provider_that_is_down_and_hands_back_what_there_is) {
  draft->will_fail(ChatErrorKind::network);
  auto proposer = make();
  const auto none = proposer->propose(proposal(), 2);
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, HasSubstr("network"));
  EXPECT_EQ(proposer->record().error->kind, ChatErrorKind::network);
  EXPECT_EQ(draft->asked.size(), 1u);

  draft->will_answer(answer("double sums", kSum, "    double sum = 0;"));
  draft->will_fail(ChatErrorKind::rate_limited);
  EXPECT_THAT(*proposer->propose(proposal(), 3), SizeIs(1));
  EXPECT_EQ(proposer->record().error->kind, ChatErrorKind::rate_limited);
}

TEST_F(Writing, begins_anew_with_less_where_the_context_overflows) {
  draft->will_answer(answer("double sums", kSum, "    double sum = 0;"));
  draft->will_fail(ChatErrorKind::context_overflow);
  draft->will_answer(answer("two sums", kSum, "    float sum = 0, other = 0;"));
  EXPECT_THAT(*make()->propose(proposal(), 2), SizeIs(2));
  EXPECT_EQ(draft->asked[2].messages.size(), 2u);
  // A first prompt that does not fit will not fit again.
  draft->will_fail(ChatErrorKind::context_overflow);
  EXPECT_FALSE(make()->propose(proposal(), 2));
}

TEST_F(Writing, stops_at_once_when_told_to) {
  int asked = 0;
  options.give_up = [&] { return ++asked > 2; };
  draft->will_answer(answer("double sums", kSum, "    double sum = 0;"));
  draft->will_answer(answer("two sums", kSum, "    float sum = 0, other = 0;"));
  EXPECT_THAT(*make()->propose(proposal(), 8), SizeIs(1));
  EXPECT_EQ(draft->asked.size(), 1u);
}

TEST_F(Writing, repairs_with_the_error_alone) {
  FailedCandidate failed;
  failed.candidate = {changed("    doubel sum = 0;"), {{"BLOCK", 64}}, "openai", "why"};
  failed.candidate.change = "double sums";
  failed.candidate.parent = "abc123";
  failed.candidate.role = "refine";
  failed.diagnostics = "softmax.cpp:5: error: unknown type name 'doubel'";
  refine->will_answer(answer("spelling", "    doubel sum = 0;", "    double sum = 0;"));
  const auto repaired = make()->repair(proposal(), failed);
  ASSERT_TRUE(repaired && *repaired);
  EXPECT_EQ((*repaired)->source, changed("    double sum = 0;"));
  EXPECT_EQ((*repaired)->change, "double sums");
  EXPECT_EQ((*repaired)->parent, "abc123");
  EXPECT_EQ((*repaired)->tunables.at("BLOCK"), 64);
  EXPECT_EQ((*repaired)->model, "large");
  const std::string& prompt = refine->asked[0].messages[1].text;
  EXPECT_THAT(prompt, HasSubstr("unknown type name 'doubel'"));
  EXPECT_THAT(prompt, Not(HasSubstr("History")));
  EXPECT_THAT(prompt, Not(HasSubstr("Bottleneck")));
}

TEST_F(Writing, has_no_repair_where_the_model_has_none) {
  FailedCandidate failed;
  failed.candidate = {kSoftmax, {}, "openai", "why"};
  draft->will_answer("I give up");
  draft->will_answer("really");
  const auto repaired = make()->repair(proposal(), failed);
  ASSERT_TRUE(repaired);
  EXPECT_FALSE(*repaired);
}

TEST_F(Writing, asks_for_json_by_schema_where_that_is_configured) {
  options.structured = true;
  draft->will_answer(
      "{\"hypothesis\": \"h\", \"edits\": [{\"search\": \"    float sum = 0;\", \"replace\": \"    double sum = "
      "0;\"}]}");
  EXPECT_THAT(*make()->propose(proposal(), 1), SizeIs(1));
  EXPECT_THAT(draft->asked[0].answer_schema, HasSubstr("\"hypothesis\""));
  EXPECT_THAT(draft->asked[0].messages[0].text, Not(HasSubstr("<<<<<<< SEARCH")));
}

TEST_F(Writing, refuses_a_launch_over_names_that_are_not_there) {
  spec.style = Style::kernel;
  draft->will_answer(
      answer("launch", kSum, "    double sum = 0;", ", \"launch\": {\"grid\": [\"rows\"], \"block\": [\"THREADS\"]}"));
  draft->will_answer(
      answer("launch", kSum, "    double sum = 0;", ", \"launch\": {\"grid\": [\"rows\"], \"block\": [\"BLOCK\"]}"));
  const auto candidates = make()->propose(proposal(), 1);
  ASSERT_THAT(*candidates, SizeIs(1));
  EXPECT_EQ(candidates->front().launch->block[0].text(), "BLOCK");
  EXPECT_THAT(draft->asked[1].messages[3].text, HasSubstr("'THREADS'"));
}

TEST_F(Writing, shows_what_it_would_ask) {
  auto proposer = make();
  const model::ChatRequest request = proposer->preview(proposal(), 3);
  ASSERT_THAT(request.messages, SizeIs(2));
  EXPECT_THAT(request.messages[1].text, HasSubstr("candidate 1 of 3"));
  EXPECT_THAT(draft->asked, IsEmpty());
}

}  // namespace
}  // namespace kagent::proposer
