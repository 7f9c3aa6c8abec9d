// SPDX-License-Identifier: Apache-2.0
#include "aa_run.h"

#include <csignal>
#include <random>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kagent::benchmarks {
namespace {

// Ctrl-C ends the run, with the table of what it has.
volatile std::sig_atomic_t interrupted = 0;

}  // namespace

void add_options(CLI::App& app, AaSettings& settings, const std::vector<std::string>& names) {
  app.add_option("--kernel", settings.names, fmt::format("{}", fmt::join(names, ", ")))
      ->check(CLI::IsMember(names))
      ->capture_default_str();
  app.add_option("--min-gain", settings.min_gain)->capture_default_str();
  app.add_option("--seed", settings.seed, "of contents and orders; 0: a new one");
  app.add_option("--json", settings.json_file, "also write every ratio there");
}

void end_on_interruption() {
  std::signal(SIGINT, [](int) { interrupted = 1; });
}

bool was_interrupted() {
  return interrupted != 0;
}

std::uint64_t seed_of(const AaSettings& settings) {
  return settings.seed != 0 ? settings.seed : std::random_device{}();
}

void report(const AaSettings& settings, const std::string& title, std::uint64_t seed,
            const std::vector<Tally>& tallies) {
  print_table(title, tallies);
  if (!settings.json_file.empty()) write_json(settings.json_file, title, seed, tallies);
}

KernelSpec planted_spec(const std::string& kernel, std::int64_t n, bool stream) {
  KernelSpec spec;
  spec.kernel = kernel;
  spec.entry = "planted";
  const Expression extent = Expression::parse("n").value();
  spec.parameters = {{"x", ParameterKind::input, DType::float32, {extent}, 0},
                     {"y", ParameterKind::output, DType::float32, {extent}, 0},
                     {"n", ParameterKind::size, DType::int64, {}, 0}};
  if (stream) spec.parameters.push_back({"stream", ParameterKind::stream, DType::float32, {}, 0});
  Case timed;
  timed.name = kernel;
  timed.sizes = {{"n", n}};
  timed.timed = true;
  spec.cases = {timed};
  spec.tolerance["y"].rtol = 1.3e-6;
  return spec;
}

Binary compile_planted(toolchain::Toolchain& toolchain, const toolchain::CompileJob& job) {
  const CompileResult compiled = require(toolchain.compile(job));
  if (compiled.outcome != Outcome::ok) throw UserError("the kernel does not compile: " + compiled.diagnostics);
  return compiled.binary;
}

int guarded(int (*run)(int, char**), int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const UserError& error) {
    fmt::print(stderr, "{}\n{}\n", error.what(), error.fix());
    return 1;
  }
}

}  // namespace kagent::benchmarks
