// SPDX-License-Identifier: Apache-2.0
#include <csignal>
#include <memory>

#include <nlohmann/json.hpp>
#include <unistd.h>

#include "cli/session.h"
#include "loop/interrupt.h"
#include "loop/tool_server.h"
#include "values/version.h"

namespace kagent::cli {
namespace {

using loop::ToolAnswer;
using nlohmann::json;
using Cancelled = std::function<bool()>;

constexpr char kInstructions[] =
    "Proposes faster versions of one compute kernel. read_task says what is asked and how to answer; submit_candidate "
    "compiles, checks and measures an answer and says what came of it. Whether a candidate is kept is decided by "
    "kagent alone, by measurement.";

std::string text_of(const json& arguments, const char* key) {
  const auto found = arguments.find(key);
  if (found == arguments.end() || found->is_null()) return {};
  if (!found->is_string()) throw UserError(std::string("'") + key + "' is not a string", "give it as a string");
  return found->get<std::string>();
}

bool flag_of(const json& arguments, const char* key) {
  const auto found = arguments.find(key);
  if (found == arguments.end() || found->is_null()) return false;
  if (!found->is_boolean()) throw UserError(std::string("'") + key + "' is neither true nor false", "give a boolean");
  return found->get<bool>();
}

// The session as it is on disk now: other processes may have gone on with it.
OpenedSession opened(const SessionOptions& options, const Cancelled& cancelled) {
  OpenedSession session = open_session(options, [cancelled] { return cancelled() || loop::interrupted(); });
  session.session->open(session.limits);
  return session;
}

ToolAnswer read_task(const SessionOptions& options, const std::string& text, const Cancelled& cancelled) {
  const json arguments = json::parse(text);
  const OpenedSession session = opened(options, cancelled);
  const proposer::Prompt prompt = session.session->brief(text_of(arguments, "parent"), flag_of(arguments, "crossover"));
  return {prompt.system + "\n\n" + prompt.text(), brief_json(*session.session, prompt)};
}

ToolAnswer submit_candidate(const SessionOptions& options, const std::string& text, const Cancelled& cancelled) {
  const json arguments = json::parse(text);
  const std::string answer = text_of(arguments, "answer"), source = text_of(arguments, "source");
  if (answer.empty() == source.empty())
    throw UserError("neither or both of 'answer' and 'source' are given", "give one of them");
  const OpenedSession session = opened(options, cancelled);
  const loop::SubmitReport report = session.session->submit(
      {{"the candidate", answer.empty() ? source : answer, answer.empty()}}, text_of(arguments, "model"));
  const loop::SubmissionResult& result = report.results.front();
  return {report_text(*session.session, report), report_json(*session.session, report), !result.problem.empty()};
}

ToolAnswer profile(const SessionOptions& options, const std::string&, const Cancelled& cancelled) {
  const OpenedSession session = opened(options, cancelled);
  session.session->brief(session.session->record()->parent.empty() ? "baseline" : session.session->record()->parent,
                         false);
  return {bottleneck_text(session.session->facts()), ""};
}

ToolAnswer history(const SessionOptions& options, const std::string&, const Cancelled& cancelled) {
  const OpenedSession session = opened(options, cancelled);
  return {status_text(*session.session), status_json(*session.session)};
}

std::vector<loop::Tool> tools(const SessionOptions& options) {
  const auto bound = [&options](auto tool) {
    return [&options, tool](const std::string& arguments, const Cancelled& cancelled) {
      return tool(options, arguments, cancelled);
    };
  };
  return {
      {"read_task", "Read the task",
       "The kernel, its rules, the architecture's facts, what limits the best version, what was tried and what came of "
       "it, and the form of an answer.",
       R"({"type": "object", "additionalProperties": false, "properties": {
         "parent": {"type": "string", "description": "What the next candidate starts from: best (default), diverse, baseline, or a candidate's hash"},
         "crossover": {"type": "boolean", "description": "Show a second parent as well"}}})",
       true, bound(read_task)},
      {"submit_candidate", "Submit a candidate",
       "Compiles, checks and measures a candidate: the outcome, the distilled error or the time of each case. A proven "
       "improvement is kept as a new generation. May take minutes.",
       R"({"type": "object", "additionalProperties": false, "properties": {
         "answer": {"type": "string", "description": "An answer in the form that read_task describes"},
         "source": {"type": "string", "description": "Instead: the whole source file"},
         "model": {"type": "string", "description": "Who wrote it, for the record"}}})",
       false, bound(submit_candidate)},
      {"read_profile", "Read the profile", "What limits the source that the last task started from, a case each.",
       R"({"type": "object", "additionalProperties": false, "properties": {}})", true, bound(profile)},
      {"list_history", "List the history", "Every candidate so far with its outcome, and what is left of the budgets.",
       R"({"type": "object", "additionalProperties": false, "properties": {}})", true, bound(history)},
  };
}

int mcp(const SessionOptions& options) {
  std::signal(SIGPIPE, SIG_IGN);
  loop::serve_tools({"kagent", kVersion, kInstructions}, tools(options), STDIN_FILENO, STDOUT_FILENO);
  return kDone;
}

}  // namespace

void add_mcp(CLI::App& app, Action& action) {
  auto options = std::make_shared<SessionOptions>();
  CLI::App* command =
      app.add_subcommand("mcp", "Serve the loop to an agent: the Model Context Protocol on standard input and output");
  add_session_options(*command, *options);
  add_limit_options(*command, *options);
  add_example(*command,
              "kagent mcp softmax --build /project/build\n\n"
              "Tools: read_task, submit_candidate, read_profile, list_history, over the session that kagent agent\n"
              "works on as well. Ends when standard input does; kagent agent finish concludes the session.");
  command->callback([options, &action] { action = [options] { return mcp(*options); }; });
}

}  // namespace kagent::cli
