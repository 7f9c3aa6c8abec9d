// SPDX-License-Identifier: Apache-2.0
// A whole run with llama.cpp's server and a real model as the proposer. A small model writes no good kernels: the
// protocol and the loop are what is shown. The numbers are printed, for people.
#include <cstdlib>

#include <fmt/core.h>
#include <gmock/gmock.h>

#include "loop/planted_project.h"
#include "loop/tuning_options.h"
#include "proposer/model/llama_server.h"
#include "proposer/model/model_test_parts.h"

namespace kagent::loop {
namespace {

namespace model = proposer::model;

TEST(RealModel, a_whole_run_ends_by_its_own_rules_with_every_answer_accounted_for) {
  if (!model::LlamaServer::is_configured())
    GTEST_SKIP() << "KAGENT_TEST_LLAMA_SERVER and KAGENT_TEST_MODEL do not name a server and a model";
  const model::LlamaServer server(model::kTestKey, 32768);
  const PlantedProject project;
  const util::TemporaryFolder home;
  ASSERT_TRUE(util::write_file_atomically(home.path() / "key", model::kTestKey));
  std::filesystem::permissions(home.path() / "key", std::filesystem::perms::owner_read);
  std::filesystem::create_directories(home.path() / "kagent");
  ASSERT_TRUE(util::write_file_atomically(
      home.path() / "kagent/config.json",
      fmt::format(R"({{"models": {{"small": {{"base_url": "{}", "model": "any", "key": "file:{}",
        "max_output_tokens": 400, "temperature": 0.7, "extra": {{"repeat_penalty": 1.15, "seed": 1}},
        "limits": {{"first_byte_s": 600, "stall_s": 300, "attempts": 50, "longest_wait_s": 2}}}}}},
        "roles": {{"draft": "small", "refine": "small"}}}})",
                  server.url(), (home.path() / "key").string())));
  ::setenv("XDG_CONFIG_HOME", home.path().c_str(), 1);

  TuningOptions options = tuning_options(project.variants());
  options.rounds = 2;
  options.width = 2;
  options.time_budget = std::chrono::seconds(600);
  options.proposer.name = "model";
  options.proposer.project = project.root();
  RecordingObserver observer;
  store::VariantStore variants = project.variants();
  const build_step::KernelContext context = project.context();
  const auto result = tune(context, variants, options, observer, [] { return false; });
  ::unsetenv("XDG_CONFIG_HOME");

  ASSERT_TRUE(result) << result.error().message;
  std::string warnings;
  for (const Warning& one : observer.all<Warning>()) warnings += one.text + "\n";
  const AnswerCounts& answers = result->answers;
  ASSERT_GT(answers.asked, 0) << warnings;
  const Usage& usage = result->usage.at("draft");
  EXPECT_GT(usage.input_tokens, 0);
  EXPECT_GT(usage.output_tokens, 0);
  int lost = 0;
  for (const auto& [problem, times] : answers.lost) lost += times;
  EXPECT_EQ(answers.applied + lost, answers.asked) << warnings;
  EXPECT_LE(answers.compiled, answers.applied);
  EXPECT_LE(answers.passed, answers.compiled);
  // The search over the declared tunables finds what is planted, whatever the model says.
  ASSERT_TRUE(result->variant) << result->reason << "\n" << warnings;
  EXPECT_LT(result->variant->evidence.against_baseline.ratio, 0.5);
  fmt::print(
      "{} candidates asked for, {} answers read at once, {} applied, {} compiled, {} correct; {} tokens read, {} "
      "written in {:.0f} s\n",
      answers.asked, answers.read, answers.applied, answers.compiled, answers.passed, usage.input_tokens,
      usage.output_tokens, usage.seconds);
}

}  // namespace
}  // namespace kagent::loop
