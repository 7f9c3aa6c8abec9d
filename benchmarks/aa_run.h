// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "aa_tally.h"
#include "runner/runner.h"
#include "toolchain/toolchain.h"

namespace kagent::benchmarks {

// What is asked for on the command line of every benchmark of this kind.
struct AaSettings {
  int aa_runs = 200, planted_runs = 20;
  std::vector<std::string> names;  // of kernels
  std::uint64_t seed = 0;
  double min_gain = 0.01;
  std::string json_file;
};
// `settings` holds the defaults, `names` the kernels that there are.
void add_options(CLI::App& app, AaSettings& settings, const std::vector<std::string>& names);

// One kernel and the work that is planted in it: what a benchmark of this kind brings.
struct AaSubject {
  std::function<KernelSpec(const std::string& kernel)> spec;
  // The program with so many thousandths of extra work.
  std::function<Binary(const std::string& kernel, int extra)> compile;
  std::vector<int> extras;
  runner::Runner& runner;
  loop::MeasurementOptions measuring;  // seed, minimum gain and interruption come from elsewhere
  std::function<bool()> stop;          // beside Ctrl-C; may be empty
};
// The comparisons that were asked for, identical programs first; ends early with what it has. Then prints the table
// under a title that begins with `machine()`, and writes the file. An exit status.
int run_comparisons(const AaSettings& settings, const AaSubject& subject, const std::function<std::string()>& machine);

// planted(x, y, n) with n floats in and out, and a stream behind if `stream` says so.
KernelSpec planted_spec(const std::string& kernel, std::int64_t n, bool stream);

// As a candidate is compiled; UserError where that fails.
Binary compile_planted(toolchain::Toolchain& toolchain, const toolchain::CompileJob& job);

// main(): `run`, with what is thrown as a message.
int guarded(int (*run)(int, char**), int argc, char** argv);

}  // namespace kagent::benchmarks
