// SPDX-License-Identifier: Apache-2.0
#include "proposer/model/command.h"

#include <csignal>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "proposer/model/model_test_parts.h"
#include "util/files.h"
#include "util/process_end.h"

namespace kagent::proposer::model {
namespace {

using namespace std::chrono_literals;
using test::ProcessEnd;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

ModelConfig shell(const std::string& script) {
  ModelConfig config = test_config("", Api::command);
  config.command = {"sh", "-c", script};
  return config;
}

std::optional<std::string> test_environment(const std::string& name) {
  if (name == "AGENT_API_KEY") return std::string(kTestKey);
  if (name == "HOME") return "/home/of/test";
  if (name == "OTHER") return "not for it";
  return std::nullopt;
}

ChatResult ask(const ModelConfig& config, const ChatRequest& request = test_request(), const GiveUp& give_up = never) {
  return CommandModel(config, test_environment).complete(request, give_up);
}

TEST(CommandModel, a_program_reads_the_prompt_and_writes_the_answer) {
  const ChatResult result = ask(shell("cat; echo noise >&2"));
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->text, "[system]\nYou improve kernels.\n\n[user]\nMake it faster.\n\n");
  EXPECT_TRUE(result->usage_estimated);
  EXPECT_EQ(result->model, "fake-1");
}

TEST(CommandModel, one_message_is_given_as_it_is) {
  ChatRequest request;
  request.messages = {{Author::user, "just this", false}};
  EXPECT_EQ(ask(shell("cat"), request)->text, "just this");
}

TEST(CommandModel, a_prompt_that_nobody_reads_does_not_hang_it) {
  EXPECT_EQ(ask(shell("echo done"), test_request(std::string(4 << 20, 'x')))->text, "done\n");
}

TEST(CommandModel, it_sees_the_named_variables_and_no_others) {
  ModelConfig config = shell("env");
  config.environment = {"AGENT_API_KEY", "HOME", "NOT_SET"};
  const ChatResult result = ask(config);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_THAT(result->text, AllOf(HasSubstr("HOME=/home/of/test\n"), HasSubstr("AGENT_API_KEY=[key removed]\n"),
                                  Not(HasSubstr("OTHER")), Not(HasSubstr(kTestKey)), Not(HasSubstr("NOT_SET"))));
  EXPECT_THAT(ask(shell("env"))->text, HasSubstr("HOME=/nonexistent\n"));
}

TEST(CommandModel, a_program_that_fails_is_told_with_its_status_and_last_words) {
  ModelConfig config = shell("echo partial; printf 'no quota for %s \\033[31m' $AGENT_API_KEY >&2; exit 3");
  config.environment = {"AGENT_API_KEY"};
  const ChatResult result = ask(config);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, ChatErrorKind::command_failed);
  EXPECT_THAT(result.error().message, AllOf(HasSubstr("status 3: no quota for [key removed]"), Not(HasSubstr("\x1B"))));
}

TEST(CommandModel, a_program_that_dies_is_told_with_the_signal) {
  const ChatResult result = ask(shell("kill -SEGV $$"));
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, HasSubstr("signal " + std::to_string(SIGSEGV)));
}

TEST(CommandModel, a_program_that_sleeps_is_killed_at_its_limit) {
  ModelConfig config = shell("sleep 1000");
  config.limits.total = 100ms;
  const ChatResult result = ask(config);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, ChatErrorKind::timed_out);
  EXPECT_THAT(result.error().message, HasSubstr("total_s"));
}

TEST(CommandModel, giving_up_kills_it_with_its_children) {
  util::TemporaryFolder folder;
  const auto file = folder.path() / "pid";
  const ModelConfig config = shell("sleep 1000 & echo $! > " + file.string() + ".new; mv " + file.string() + ".new " +
                                   file.string() + "; sleep 1000");
  std::optional<ProcessEnd> child;
  const ChatResult result = ask(config, test_request(), [&] {
    const auto pid = util::read_file(file);
    if (pid) child.emplace(static_cast<pid_t>(std::stol(*pid)));
    return child.has_value();
  });
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, ChatErrorKind::cancelled);
  EXPECT_TRUE(child->comes());
}

TEST(CommandModel, a_program_that_floods_is_killed) {
  ModelConfig config = shell("while :; do echo yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy; done");
  config.limits.reply_bytes = 100'000;
  EXPECT_EQ(ask(config).error().kind, ChatErrorKind::too_large);
}

TEST(CommandModel, a_program_that_leaves_children_behind_still_ends) {
  const ChatResult result = ask(shell("sleep 1000 & echo answer"));
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->text, "answer\n");
}

TEST(CommandModel, no_such_program_is_an_error_with_its_name) {
  ModelConfig config = test_config("", Api::command);
  config.command = {"kagent-no-such-program"};
  const ChatResult result = ask(config);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, ChatErrorKind::command_failed);
  EXPECT_THAT(result.error().message, HasSubstr("kagent-no-such-program"));
}

TEST(CommandModel, broken_bytes_of_an_answer_are_cleaned) {
  EXPECT_EQ(ask(shell("printf 'a\\377\\033[1mb\\000c'"))->text,
            "a\xEF\xBF\xBD"
            "bc");
}

TEST(CommandModel, the_preview_names_program_variables_and_input) {
  ModelConfig config = shell("cat");
  config.environment = {"AGENT_API_KEY"};
  const std::string preview = CommandModel(config, test_environment).preview(test_request());
  EXPECT_THAT(preview, AllOf(HasSubstr("$ sh -c cat"), HasSubstr("AGENT_API_KEY"), HasSubstr("Make it faster."),
                             Not(HasSubstr(kTestKey))));
}

}  // namespace
}  // namespace kagent::proposer::model
