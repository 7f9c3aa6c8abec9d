// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include <CLI/CLI.hpp>

#include "values/error.h"

namespace kagent::cli {

// Documented in `kagent --help`.
enum ExitCode : int {
  kDone = 0,            // also: 'no improvement, the original stays'
  kNegative = 1,        // the answer is no: verification failed, a required variant is missing
  kWrongUse = 2,        // wrong arguments, unusable input, or a missing tool; the message has the fix
  kInternalError = 70,  // a broken invariant of kagent: please report
  kInterrupted = 130,   // Ctrl-C; everything finished is kept
};

// What a parsed command line does; returns an ExitCode. Set by the chosen subcommand's callback.
using Action = std::function<int()>;

// One function a subcommand, each in its own file: declares options with help and an example, and sets `action`.
void add_agent(CLI::App& app, Action& action);
void add_bench(CLI::App& app, Action& action);
void add_diff(CLI::App& app, Action& action);
void add_doctor(CLI::App& app, Action& action);
void add_explain(CLI::App& app, Action& action);
void add_golden(CLI::App& app, Action& action);
void add_init(CLI::App& app, Action& action);
void add_isolate(CLI::App& app, Action& action);
void add_log(CLI::App& app, Action& action);
void add_mcp(CLI::App& app, Action& action);
void add_optimize(CLI::App& app, Action& action);
void add_pick(CLI::App& app, Action& action);
void add_promote(CLI::App& app, Action& action);
void add_report(CLI::App& app, Action& action);
void add_review(CLI::App& app, Action& action);
void add_rollback(CLI::App& app, Action& action);
void add_show(CLI::App& app, Action& action);
void add_verify(CLI::App& app, Action& action);

// Options that several subcommands share.
struct ProjectOption {
  std::filesystem::path folder = ".";  // any folder inside the project; variants/ and git are found from there
};
void add_project_option(CLI::App& command, ProjectOption& option);

struct BuildOption {
  std::filesystem::path folder = "build";  // build tree of a project that calls kagent_optimize_kernel()
  std::string target;                      // narrows down when several targets have the kernel
};
void add_build_option(CLI::App& command, BuildOption& option);

// An example shown at the end of --help.
void add_example(CLI::App& command, const std::string& example);

// One line on standard error, and one with the fix.
void complain(const UserError& error);

// Parses, runs, and turns every exception into one line on standard error (with the fix) and an exit code.
int run(int argc, char** argv);

}  // namespace kagent::cli
