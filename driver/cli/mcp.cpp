// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <csignal>
#include <memory>
#include <optional>

#include <nlohmann/json.hpp>
#include <unistd.h>

#include "cli/session.h"
#include "loop/interrupt.h"
#include "loop/tool_server.h"
#include "util/text.h"
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

// An argument that nobody reads would be a wish that nobody heard.
void demand_known(const json& arguments, const std::vector<std::string>& known) {
  for (const auto& [key, value] : arguments.items())
    if (std::ranges::find(known, key) == known.end()) {
      const std::string near = util::nearest(key, known);
      throw UserError("there is no argument '" + util::clean(key, 100) + "'",
                      near.empty() ? "the tool's input schema lists them" : "did you mean " + near + "?");
    }
}

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

std::int64_t count_of(const json& usage, const char* key) {
  const auto found = usage.find(key);
  if (found == usage.end() || found->is_null()) return 0;
  const bool fits = found->is_number_unsigned() && found->get<std::uint64_t>() <= std::uint64_t{kMostTokens};
  if (!fits)
    throw UserError(std::string("'usage/") + key + "' is no number of tokens", "give a whole number from 0 on");
  return found->get<std::int64_t>();
}

// What the agent says that its answer cost it.
std::optional<Usage> usage_of(const json& arguments) {
  const auto found = arguments.find("usage");
  if (found == arguments.end() || found->is_null()) return std::nullopt;
  if (!found->is_object())
    throw UserError("'usage' is not an object", "give input_tokens, output_tokens and cost in it");
  demand_known(*found, {"input_tokens", "cached_tokens", "output_tokens", "cost"});
  Usage usage;
  usage.input_tokens = count_of(*found, "input_tokens");
  usage.cached_tokens = count_of(*found, "cached_tokens");
  usage.output_tokens = count_of(*found, "output_tokens");
  if (const auto cost = found->find("cost"); cost != found->end() && !cost->is_null()) {
    usage.cost = cost->is_number() ? cost->get<double>() : -1;
    if (!(usage.cost >= 0 && usage.cost <= kMostCost))
      throw UserError("'usage/cost' is no cost", "give a number from 0 on");
  }
  return usage;
}

// The session as it is on disk now: other processes may have gone on with it.
OpenedSession opened(const SessionOptions& options, const Cancelled& cancelled) {
  OpenedSession session = open_session(options, [cancelled] { return cancelled() || loop::interrupted(); });
  session.session->open(session.limits);
  return session;
}

ToolAnswer read_task(const SessionOptions& options, const std::string& text, const Cancelled& cancelled) {
  const json arguments = json::parse(text);
  demand_known(arguments, {"parent", "crossover"});
  const OpenedSession session = opened(options, cancelled);
  const proposer::Prompt prompt = session.session->brief(text_of(arguments, "parent"), flag_of(arguments, "crossover"));
  return {prompt.system + "\n\n" + prompt.text(), brief_json(*session.session, prompt)};
}

ToolAnswer submit_candidate(const SessionOptions& options, const std::string& text, const Cancelled& cancelled) {
  const json arguments = json::parse(text);
  demand_known(arguments, {"answer", "source", "model", "usage"});
  const std::optional<Usage> usage = usage_of(arguments);
  const std::string answer = text_of(arguments, "answer"), source = text_of(arguments, "source");
  if (answer.empty() == source.empty())
    throw UserError("neither or both of 'answer' and 'source' are given", "give one of them");
  const OpenedSession session = opened(options, cancelled);
  const loop::SubmitReport report = session.session->submit(
      {{"the candidate", answer.empty() ? source : answer, answer.empty()}}, text_of(arguments, "model"), usage);
  const loop::SubmissionResult& result = report.results.front();
  return {report_text(*session.session, report), report_json(*session.session, report), !result.problem.empty()};
}

ToolAnswer profile(const SessionOptions& options, const std::string& text, const Cancelled& cancelled) {
  demand_known(json::parse(text), {});
  const OpenedSession session = opened(options, cancelled);
  return {bottleneck_text(session.session->profiled()), ""};
}

ToolAnswer history(const SessionOptions& options, const std::string& text, const Cancelled& cancelled) {
  demand_known(json::parse(text), {});
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
         "model": {"type": "string", "description": "Who wrote it, for the record"},
         "usage": {"type": "object", "additionalProperties": false, "description": "What this answer cost you, as far as you know: counted, and told as reported by you", "properties": {
           "input_tokens": {"type": "integer", "minimum": 0, "description": "Read, cached ones included"},
           "cached_tokens": {"type": "integer", "minimum": 0},
           "output_tokens": {"type": "integer", "minimum": 0, "description": "Written, reasoning included"},
           "cost": {"type": "number", "minimum": 0}}}}})",
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
