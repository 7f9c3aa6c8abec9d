// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "aa_tally.h"
#include "toolchain/toolchain.h"

namespace kagent::benchmarks {

// What is asked for on the command line of every benchmark of this kind.
struct AaSettings {
  std::vector<std::string> names;  // of kernels
  std::uint64_t seed = 0;
  double min_gain = 0.01;
  std::string json_file;
};
// `settings` holds the defaults, `names` the kernels that there are.
void add_options(CLI::App& app, AaSettings& settings, const std::vector<std::string>& names);

// From now on Ctrl-C only makes was_interrupted() true, so that a run ends with the table of what it has.
void end_on_interruption();
bool was_interrupted();

// The seed that was asked for, or a new one.
std::uint64_t seed_of(const AaSettings& settings);

// Prints the table under a title, and writes the file that was asked for.
void report(const AaSettings& settings, const std::string& title, std::uint64_t seed,
            const std::vector<Tally>& tallies);

// planted(x, y, n) with n floats in and out, and a stream behind if `stream` says so.
KernelSpec planted_spec(const std::string& kernel, std::int64_t n, bool stream);

// As a candidate is compiled; UserError where that fails.
Binary compile_planted(toolchain::Toolchain& toolchain, const toolchain::CompileJob& job);

// main(): `run`, with what is thrown as a message.
int guarded(int (*run)(int, char**), int argc, char** argv);

}  // namespace kagent::benchmarks
