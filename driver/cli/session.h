// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "cli/command.h"
#include "loop/agent_session.h"
#include "values/progress.h"

// What `kagent agent` and `kagent mcp` share: one kernel on one architecture, and its session.
namespace kagent::cli {

struct SessionOptions {
  BuildOption build;
  std::string kernel;
  std::string architecture;  // where a build has several
  std::filesystem::path runtime;
  std::optional<int> rounds, budget_s;
  std::optional<double> min_gain, goal_speedup;
  std::optional<std::int64_t> tokens;
  std::optional<double> money;
};
void add_session_options(CLI::App& command, SessionOptions& options);
// Those that count when a session is opened.
void add_limit_options(CLI::App& command, SessionOptions& options);

// More than any agent uses in a session; above, sums could overflow.
inline constexpr std::int64_t kMostTokens = 1'000'000'000'000;
inline constexpr double kMostCost = 1e9;

// All that a session refers to, at a fixed place.
struct OpenedSession {
  std::unique_ptr<build_step::KernelContext> context;
  std::unique_ptr<store::VariantStore> variants;
  std::unique_ptr<loop::TuningOptions> tuning;
  std::unique_ptr<ProgressObserver> progress;
  std::unique_ptr<std::function<bool()>> interrupted;
  std::unique_ptr<loop::AgentSession> session;
  loop::SessionLimits limits;
};
// Throws UserError, where there are several kernels or architectures with their names.
OpenedSession open_session(const SessionOptions& options, std::function<bool()> interrupted);

// For --json and for tools of the Model Context Protocol.
std::string brief_json(const loop::AgentSession& session, const proposer::Prompt& prompt);
std::string report_json(const loop::AgentSession& session, const loop::SubmitReport& report);
std::string status_json(const loop::AgentSession& session);
// For people.
std::string report_text(const loop::AgentSession& session, const loop::SubmitReport& report);
std::string status_text(const loop::AgentSession& session);
// The profile of the last brief, as lines.
std::string bottleneck_text(const Brief& brief);

}  // namespace kagent::cli
