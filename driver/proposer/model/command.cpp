// SPDX-License-Identifier: Apache-2.0
#include "proposer/model/command.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include <fmt/core.h>

#include "proposer/model/budget.h"
#include "util/subprocess.h"
#include "util/text.h"

namespace kagent::proposer::model {
namespace {

using std::chrono::milliseconds;

// How soon a `give_up` is noticed.
constexpr milliseconds kLook{100};
// Of what it wrote to standard error, in a message.
constexpr std::size_t kShownBytes = 400;

bool is_key_name(const std::string& variable) {
  return std::ranges::any_of(std::array{"KEY", "TOKEN", "SECRET", "PASSWORD"},
                             [&](const char* part) { return variable.find(part) != std::string::npos; });
}

std::string one_line(std::string_view text) {
  // What came last says why it ended.
  if (text.size() > kShownBytes) text.remove_prefix(text.size() - kShownBytes);
  std::string line = util::clean(text, 2 * kShownBytes);
  std::ranges::replace(line, '\n', ' ');
  return line;
}

ChatError error_of(const util::Finished& finished, const ModelConfig& config) {
  const std::string said = finished.standard_error.empty() ? "" : ": " + one_line(finished.standard_error);
  switch (finished.ended_by) {
    case util::EndedBy::wall_limit:
      return {ChatErrorKind::timed_out, fmt::format("it did not end within {} s (limits/total_s) and was killed{}",
                                                    std::chrono::duration<double>(config.limits.total).count(), said)};
    case util::EndedBy::output_limit:
      return {ChatErrorKind::too_large, fmt::format("it wrote more than {} bytes (limits/reply_bytes) and was killed",
                                                    config.limits.reply_bytes)};
    case util::EndedBy::exit:
      return {ChatErrorKind::command_failed, fmt::format("it ended with status {}{}", finished.code, said)};
    case util::EndedBy::signal:
    case util::EndedBy::memory_limit:
    case util::EndedBy::task_limit:
      break;
  }
  return {ChatErrorKind::command_failed, fmt::format("it was ended by signal {}{}", finished.code, said)};
}

}  // namespace

std::string prompt_text(const ChatRequest& request) {
  if (request.messages.size() == 1) return request.messages.front().text;
  std::string text;
  for (const ChatMessage& message : request.messages)
    text += fmt::format("[{}]\n{}\n\n", name(message.author), message.text);
  return text;
}

CommandModel::CommandModel(ModelConfig config, const Environment& environment) : config_(std::move(config)) {
  for (const std::string& entry : util::minimal_environment())
    if (std::ranges::find(config_.environment, entry.substr(0, entry.find('='))) == config_.environment.end())
      environment_.push_back(entry);
  for (const std::string& variable : config_.environment) {
    const auto value = environment(variable);
    if (!value) continue;
    environment_.push_back(variable + "=" + *value);
    if (is_key_name(variable)) keys_.push_back(std::make_shared<const Secret>(*value));
  }
}

std::string CommandModel::scrub(std::string text) const {
  for (const auto& key : keys_) text = key->scrub(std::move(text));
  return text;
}

ChatResult CommandModel::complete(const ChatRequest& request, const GiveUp& give_up) {
  const auto failed = [&](ChatError error) {
    error.message = config_.command.front() + ": " + scrub(std::move(error.message));
    return std::unexpected(std::move(error));
  };
  util::Command command;
  command.argv = config_.command;
  command.environment = environment_;
  command.standard_input = scrub(prompt_text(request));
  command.limits.wall = config_.limits.total;
  command.limits.output_bytes = static_cast<std::uint64_t>(config_.limits.reply_bytes);
  auto child = util::Child::start(command);
  if (!child) return failed({ChatErrorKind::command_failed, child.error().message + "; " + child.error().fix});
  std::optional<util::Finished> finished;
  while (!(finished = child->poll())) {
    if (give_up && give_up()) {
      child->kill();
      return failed({ChatErrorKind::cancelled, "given up while it ran"});
    }
    child->wait_for_news(-1, kLook);
  }
  ChatReply reply;
  reply.usage_estimated = true;
  reply.usage.input_tokens = estimated_tokens(request);
  reply.usage.output_tokens = estimated_tokens(finished->standard_output);
  reply.usage.seconds = std::chrono::duration<double>(finished->duration).count();
  if (!finished->ok()) {
    ChatError error = error_of(*finished, config_);
    error.usage = reply.usage;
    return failed(std::move(error));
  }
  reply.text = util::clean(scrub(std::move(finished->standard_output)), static_cast<std::size_t>(-1));
  reply.model = config_.model.empty() ? config_.command.front() : config_.model;
  return reply;
}

std::string CommandModel::preview(const ChatRequest& request) const {
  std::string text = "$ " + util::quote_shell_words(config_.command) + "\nenvironment:";
  for (const std::string& entry : environment_) text += " " + entry.substr(0, entry.find('='));
  return text + "\nstandard input:\n\n" + scrub(prompt_text(request));
}

}  // namespace kagent::proposer::model
