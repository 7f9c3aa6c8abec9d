// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include <fmt/core.h>
#include <unistd.h>

#include "cli/command.h"
#include "util/text.h"
#include "values/error.h"
#include "values/version.h"

namespace kagent::cli {
namespace {

void complain(const std::string& message, const std::string& fix) {
  fmt::print(stderr, "kagent: {}\n", util::clean(message));
  if (!fix.empty()) fmt::print(stderr, "  fix: {}\n", util::clean(fix));
}

}  // namespace

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
  add_explain(app, action);
  add_verify(app, action);
  add_bench(app, action);
  add_log(app, action);
  add_show(app, action);
  add_diff(app, action);
  add_rollback(app, action);
  add_promote(app, action);
  add_init(app, action);
  add_golden(app, action);
  add_report(app, action);
  add_doctor(app, action);
  add_isolate(app, action);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kDone : kWrongUse;
  }
  try {
    return action();
  } catch (const UserError& error) {
    complain(error.what(), error.fix());
    return kWrongUse;
  } catch (const std::exception& error) {
    complain(std::string("internal error: ") + error.what(), "please report this with the command that caused it");
    return kInternalError;
  }
}

}  // namespace kagent::cli
