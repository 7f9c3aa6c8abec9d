// SPDX-License-Identifier: Apache-2.0
// What the measuring protocol says where the truth is known, on real kernels in real processes: the same program as
// candidate and incumbent (every FASTER is false), and an incumbent with a planted share of extra work (every FASTER is
// a find). Prints shares, and the noise that it saw.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <random>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "aa_tally.h"
#include "loop/measurement.h"
#include "loop/measuring_lane.h"
#include "runner/runner.h"
#include "toolchain/host_toolchain.h"
#include "util/files.h"
#include "util/text.h"

namespace {

using namespace kagent;
namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

// y = f(x) over n floats, then the first EXTRA thousandths of it once more: the results are the same, the time is not.
struct Kernel {
  std::string name;
  std::string element;  // the value of y[i] from x[i]
  std::int64_t n;
};

const std::vector<Kernel> kKernels{
    {"arithmetic", "polynomial(x[i])", 1 << 16},
    {"streaming", "0.5f * x[i] + 1.0f", 1 << 20},
    {"short", "polynomial(x[i])", 1 << 12},
};

std::string source(const Kernel& kernel) {
  return "#ifndef EXTRA\n#define EXTRA 0\n#endif\n"
         "namespace {\n"
         "[[maybe_unused]] inline float polynomial(float v) {\n"
         "  float sum = 0.25f;\n"
         "  for (int k = 0; k < 24; ++k) sum = sum * v * 0.125f + 1.0f / static_cast<float>(k + 1);\n"
         "  return sum;\n"
         "}\n"
         "[[gnu::noinline]] void part(const float* x, float* y, long end) {\n"
         "  for (long i = 0; i < end; ++i) y[i] = " +
         kernel.element +
         ";\n"
         "}\n"
         "}\n"
         "void planted(const float* x, float* y, long n) {\n"
         "  part(x, y, n);\n"
         "  if (EXTRA > 0) part(x, y, n * EXTRA / 1000);\n"
         "}\n";
}

KernelSpec spec_of(const Kernel& kernel) {
  KernelSpec spec;
  spec.kernel = kernel.name;
  spec.entry = "planted";
  const Expression extent = Expression::parse("n").value();
  spec.parameters = {{"x", ParameterKind::input, DType::float32, {extent}, 0},
                     {"y", ParameterKind::output, DType::float32, {extent}, 0},
                     {"n", ParameterKind::size, DType::int64, {}, 0}};
  Case timed;
  timed.name = kernel.name;
  timed.sizes = {{"n", kernel.n}};
  timed.timed = true;
  spec.cases = {timed};
  spec.tolerance["y"].rtol = 1.3e-6;
  return spec;
}

// The kernel with so many thousandths of extra work, compiled as a candidate is.
class Programs {
 public:
  explicit Programs(bool allow_unsandboxed) : allow_unsandboxed_(allow_unsandboxed) {}

  Binary compile(const Kernel& kernel, int extra) {
    const fs::path folder = folder_.path() / fmt::format("{}-{}", kernel.name, extra);
    fs::create_directories(folder);
    toolchain::HostToolchainOptions options;
    options.command = {folder_.path(), "/usr/bin/c++", {"-O2", "-std=c++17"}};
    options.source = folder_.path() / "planted.cpp";
    options.runtime = KAGENT_RUNTIME;
    options.entry = "planted";
    options.parameters = spec_of(kernel).parameters;
    options.allow_unsandboxed = allow_unsandboxed_;
    const auto compiler = toolchain::make_host_toolchain(options);
    const CompileResult compiled = require(compiler->compile(
        {fmt::format("#define EXTRA {}\n#line 1 \"planted.cpp\"\n", extra) + source(kernel), folder}));
    if (compiled.outcome != Outcome::ok) throw UserError("the kernel does not compile: " + compiled.diagnostics);
    return compiled.binary;
  }

 private:
  bool allow_unsandboxed_;
  util::TemporaryFolder folder_{"kagent-aa"};
};

// Ctrl-C ends the run, with the table of what it has.
volatile std::sig_atomic_t interrupted = 0;

std::string load_average() {
  double loads[3] = {0, 0, 0};
  return ::getloadavg(loads, 3) == 3 ? fmt::format("{:.2f} {:.2f} {:.2f}", loads[0], loads[1], loads[2]) : "unknown";
}

int run(int argc, char** argv) {
  CLI::App app{"The share of false FASTER verdicts between identical programs, and of planted gains that are found."};
  int aa_runs = 200, planted_runs = 20;
  std::vector<std::string> names{"arithmetic"};
  std::uint64_t seed = 0;
  double min_gain = 0.01;
  bool allow_unsandboxed = false;
  std::string json_file;
  app.add_option("--runs", aa_runs, "A/A runs, of all kernels together")->capture_default_str();
  app.add_option("--planted", planted_runs, "runs for each planted difference, of all kernels together")
      ->capture_default_str();
  app.add_option("--kernel", names, "arithmetic, streaming, short")->capture_default_str();
  app.add_option("--min-gain", min_gain)->capture_default_str();
  app.add_option("--seed", seed, "of contents and orders; 0: a new one");
  app.add_option("--json", json_file, "also write every ratio there");
  app.add_flag("--allow-unsandboxed", allow_unsandboxed, "run without bubblewrap");
  CLI11_PARSE(app, argc, argv);
  std::signal(SIGINT, [](int) { interrupted = 1; });
  if (seed == 0) seed = std::random_device{}();

  Programs programs(allow_unsandboxed);
  const auto runner = runner::make_host_runner();
  std::mt19937_64 seeds(seed);
  std::vector<Kernel> kernels;
  for (const Kernel& kernel : kKernels)
    if (std::find(names.begin(), names.end(), kernel.name) != names.end()) kernels.push_back(kernel);
  if (kernels.empty()) {
    fmt::print(stderr, "no such kernel\n");
    return 1;
  }
  const std::string load_before = load_average();
  const auto begin = Clock::now();
  std::vector<benchmarks::Tally> tallies;
  const auto stop = [] { return interrupted != 0; };
  for (const Kernel& kernel : kernels) {
    const KernelSpec spec = spec_of(kernel);
    const Binary candidate = programs.compile(kernel, 0);
    for (const int extra : {0, 20, 50, 100}) {
      const Binary incumbent = programs.compile(kernel, extra);
      const auto measure = [&](std::uint64_t run_seed) {
        loop::MeasurementOptions options;
        options.policy.min_gain = min_gain;
        options.limits.allow_unsandboxed = allow_unsandboxed;
        options.seed = run_seed;
        options.interrupted = stop;
        return loop::measure(*runner, spec, incumbent, candidate, options);
      };
      const int runs = (extra == 0 ? aa_runs : planted_runs) / static_cast<int>(kernels.size());
      tallies.push_back(benchmarks::compare(
          kernel.name, extra / 1000.0, runs, [&] { return seeds(); }, measure, stop));
    }
  }
  std::erase_if(tallies, [](const benchmarks::Tally& tally) { return tally.runs == 0; });
  const std::string title =
      fmt::format("{}; load average before {}, after {}; {:.0f} s; seed {}", toolchain::machine_description(),
                  load_before, load_average(), std::chrono::duration<double>(Clock::now() - begin).count(), seed);
  benchmarks::print_table(title, tallies);
  if (!json_file.empty()) benchmarks::write_json(json_file, title, seed, tallies);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const UserError& error) {
    fmt::print(stderr, "{}\n{}\n", error.what(), error.fix());
    return 1;
  }
}
