// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <unistd.h>

#include "cli/command.h"
#include "util/text.h"
#include "values/error.h"
#include "values/version.h"

namespace kagent::cli {

void complain(const UserError& error) {
  fmt::print(stderr, "kagent: {}\n", util::clean(error.what()));
  if (!error.fix().empty()) fmt::print(stderr, "  fix: {}\n", util::clean(error.fix()));
}

void add_project_option(CLI::App& command, ProjectOption& option) {
  command.add_option("--project", option.folder, "Any folder of the project")->capture_default_str();
}

void add_build_option(CLI::App& command, BuildOption& option) {
  command.add_option("-B,--build", option.folder, "Build tree of the project")->capture_default_str();
  command.add_option("--target", option.target, "CMake target, if several have the kernel");
}

void add_example(CLI::App& command, const std::string& example) {
  command.footer("Example:\n  " + example);
}

int run(int argc, char** argv) {
  CLI::App app{"Finds, proves and keeps faster versions of compute kernels for CMake builds.", "kagent"};
  app.set_version_flag("--version", std::string("kagent ") + kVersion);
  app.require_subcommand(1);
  app.footer(
      "Exit codes: 0 done (also 'no improvement'), 1 the answer is no, 2 wrong use or unusable input,\n"
      "70 internal error, 130 interrupted.");
  Action action;
  // In the order in which a newcomer meets them.
  add_optimize(app, action);
  add_pick(app, action);
  add_agent(app, action);
  add_mcp(app, action);
  add_explain(app, action);
  add_verify(app, action);
  add_bench(app, action);
  add_log(app, action);
  add_show(app, action);
  add_diff(app, action);
  add_rollback(app, action);
  add_promote(app, action);
  add_review(app, action);
  add_init(app, action);
  add_golden(app, action);
  add_report(app, action);
  add_doctor(app, action);
  add_isolate(app, action);
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  if (argc > 1 && argv[1][0] != '-' && std::ranges::find(names, argv[1]) == names.end()) {
    const std::string near = util::nearest(argv[1], names);
    complain(UserError(fmt::format("there is no command '{}'", argv[1]),
                       near.empty() ? "kagent --help lists them" : "did you mean " + near + "?"));
    return kWrongUse;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    const auto chosen = app.get_subcommands();
    complain(UserError(error.what(), fmt::format("kagent {}{}--help", chosen.empty() ? "" : chosen.front()->get_name(),
                                                 chosen.empty() ? "" : " ")));
    return kWrongUse;
  }
  try {
    const int code = action();
    if (std::fflush(stdout) != 0) throw UserError("cannot write the output: " + std::string(std::strerror(errno)));
    return code;
  } catch (const UserError& error) {
    complain(error);
    return kWrongUse;
  } catch (const std::exception& error) {
    complain(UserError(std::string("internal error: ") + error.what(),
                       "please report this with the command that caused it"));
    return kInternalError;
  }
}

}  // namespace kagent::cli
