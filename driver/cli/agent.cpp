// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <iterator>
#include <memory>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "cli/json_output.h"
#include "cli/session.h"
#include "cli/usage.h"
#include "loop/interrupt.h"
#include "util/files.h"
#include "util/text.h"

namespace kagent::cli {
namespace {

struct AgentOptions {
  SessionOptions session;
  std::string parent, model;
  std::vector<std::string> files;
  bool crossover = false, whole_source = false, json = false;
  std::optional<std::int64_t> input_tokens, cached_tokens, output_tokens;
  std::optional<double> cost;

  // What the agent says that its submissions cost; nothing where it says nothing.
  std::optional<Usage> reported() const {
    if (!input_tokens && !cached_tokens && !output_tokens && !cost) return std::nullopt;
    return Usage{.input_tokens = input_tokens.value_or(0),
                 .cached_tokens = cached_tokens.value_or(0),
                 .output_tokens = output_tokens.value_or(0),
                 .cost = cost.value_or(0),
                 .seconds = 0};
  }
};

int ended(const loop::AgentSession& session) {
  return session.reason_to_stop() ? kNegative : kDone;
}

int brief(const AgentOptions& options) {
  OpenedSession opened = open_session(options.session, loop::interrupted);
  loop::AgentSession& session = *opened.session;
  session.open(opened.limits);
  const proposer::Prompt prompt = session.brief(options.parent, options.crossover);
  if (options.json) {
    fmt::print("{}\n", brief_json(session, prompt));
  } else {
    fmt::print("{}\n\n{}\n", prompt.system, prompt.text());
    if (const auto reason = session.reason_to_stop())
      fmt::print(stderr, "kagent: the session has ended by itself: {}\n  next: kagent agent finish {}\n", *reason,
                 options.session.kernel);
  }
  return ended(session);
}

std::string contents_of(const std::string& file) {
  // A source or an answer is some kilobytes; the reader of answers has bounds of its own.
  constexpr std::size_t kMost = 16 << 20;
  if (file != "-") {
    std::error_code error;
    if (std::filesystem::file_size(file, error) > kMost && !error) throw UserError(file + " is larger than 16 MiB");
    return require(util::read_file(file));
  }
  std::string text;
  char buffer[4096];
  for (std::size_t got; text.size() <= kMost && (got = std::fread(buffer, 1, sizeof buffer, stdin)) > 0;)
    text.append(buffer, got);
  return text;
}

int submit(const AgentOptions& options) {
  OpenedSession opened = open_session(options.session, loop::interrupted);
  loop::AgentSession& session = *opened.session;
  if (const auto reason = session.reason_to_stop()) {
    fmt::print(stderr, "kagent: the session has ended by itself: {}\n  next: kagent agent finish {}\n", *reason,
               options.session.kernel);
    return kNegative;
  }
  std::vector<loop::Submission> submissions;
  for (const std::string& file : options.files) submissions.push_back({file, contents_of(file), options.whole_source});
  const loop::SubmitReport report = session.submit(submissions, options.model, options.reported());
  fmt::print("{}{}", options.json ? report_json(session, report) : report_text(session, report),
             options.json ? "\n" : "");
  if (loop::interrupted()) return kInterrupted;
  return kDone;
}

int status(const AgentOptions& options) {
  OpenedSession opened = open_session(options.session, loop::interrupted);
  fmt::print("{}{}", options.json ? status_json(*opened.session) : status_text(*opened.session),
             options.json ? "\n" : "");
  return ended(*opened.session);
}

int finish(const AgentOptions& options) {
  OpenedSession opened = open_session(options.session, loop::interrupted);
  const loop::TuningResult result = opened.session->finish();
  const std::string reference = result.variant ? result.variant->reference : "";
  const double over_baseline = result.variant ? 1 / result.variant->evidence.against_baseline.ratio : 1;
  const auto used = result.usage.find("agent");
  if (options.json) {
    nlohmann::ordered_json root{{"improved", result.variant.has_value()},
                                {"variant", reference},
                                {"over_baseline", over_baseline},
                                {"reason", result.reason},
                                {"trials", result.trials},
                                {"reported_by_agent", nullptr}};
    if (used != result.usage.end()) root["reported_by_agent"] = tokens_json(used->second);
    print_json(root);
    return kDone;
  }
  if (result.variant)
    fmt::print("{}: {}, {:.2f}x over the baseline ({}; {} trials)\n", options.session.kernel, util::clean(reference),
               over_baseline, util::clean(result.reason), result.trials);
  else
    fmt::print("{}: no improvement, what was there stays ({}; {} trials)\n", options.session.kernel,
               util::clean(result.reason), result.trials);
  if (used != result.usage.end()) fmt::print("  the agent reports {}\n", tokens_text(used->second));
  return kDone;
}

void add_report_options(CLI::App& command, AgentOptions& options) {
  const CLI::Range tokens(std::int64_t{0}, kMostTokens);
  command.add_option("--input-tokens", options.input_tokens, "Read by the agent for these files, cached ones included")
      ->check(tokens);
  command.add_option("--cached-tokens", options.cached_tokens, "Of them, from its provider's cache")->check(tokens);
  command.add_option("--output-tokens", options.output_tokens, "Written by the agent, reasoning included")
      ->check(tokens);
  command.add_option("--cost", options.cost, "What it paid for them")->check(CLI::Range(0.0, kMostCost));
}

CLI::App* add_step(CLI::App& agent, const std::string& name, const std::string& help,
                   const std::shared_ptr<AgentOptions>& options, Action& action, int (*step)(const AgentOptions&)) {
  CLI::App* command = agent.add_subcommand(name, help);
  add_session_options(*command, options->session);
  command->add_flag("--json", options->json, "Print JSON");
  command->callback([options, &action, step] {
    action = [options, step]() -> int {
      try {
        return step(*options);
      } catch (const UserError& error) {
        if (!loop::interrupted()) throw;  // else it waited for another process
        fmt::print(stderr, "kagent: {}\n", util::clean(error.what()));
        return kInterrupted;
      }
    };
  });
  return command;
}

}  // namespace

void add_agent(CLI::App& app, Action& action) {
  auto options = std::make_shared<AgentOptions>();
  CLI::App* agent = app.add_subcommand("agent", "The loop, driven from outside: brief, submit, ..., finish");
  agent->require_subcommand(1);

  CLI::App* of_brief = add_step(*agent, "brief", "Print the task; opens a session if none is", options, action, brief);
  add_limit_options(*of_brief, options->session);
  of_brief->add_option("--parent", options->parent,
                       "What the next candidates start from: best, diverse, baseline, or a candidate's hash");
  of_brief->add_flag("--crossover", options->crossover, "Of two parents: the best, and one that is unlike it");

  CLI::App* of_submit =
      add_step(*agent, "submit", "Try candidates, and keep what is proven: one round", options, action, submit);
  of_submit->add_option("files", options->files, "Answers in the published form; - is standard input")->required();
  of_submit->add_flag("--source", options->whole_source, "The files are sources as a whole");
  of_submit->add_option("--model", options->model, "Who wrote them, for the record");
  add_report_options(*of_submit, *options);

  add_step(*agent, "status", "History, what is best, what is left of the budgets", options, action, status);
  add_step(*agent, "finish", "Conclude the session", options, action, finish);
  add_example(*agent,
              "kagent agent brief softmax > task.txt\n"
              "  kagent agent submit softmax answer1.txt answer2.txt\n"
              "  kagent agent finish softmax\n\n"
              "The state is on disk: each step may run in another process, hours apart. Copied with its repository,\n"
              "a session goes on on another machine. Exit codes: 0 done, whatever became of the candidates;\n"
              "1 the session has ended by itself (brief, submit, status), and only finish is left; 2 wrong use or\n"
              "unusable input; 130 interrupted: what is finished is kept.");
}

}  // namespace kagent::cli
