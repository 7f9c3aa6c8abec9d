// SPDX-License-Identifier: Apache-2.0
// What the measuring protocol says where the truth is known, on real kernels in real processes: the same program as
// candidate and incumbent (every FASTER is false), and an incumbent with a planted share of extra work (every FASTER is
// a find). Prints shares, and the noise that it saw.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "aa_run.h"
#include "runner/runner.h"
#include "toolchain/host_toolchain.h"
#include "util/files.h"

namespace {

using namespace kagent;
using benchmarks::Tally;
namespace fs = std::filesystem;

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

const Kernel& kernel_of(const std::string& name) {
  return *std::ranges::find(kKernels, name, &Kernel::name);
}

KernelSpec spec_of(const std::string& name) {
  return benchmarks::planted_spec(name, kernel_of(name).n, false);
}

// The kernel with so many thousandths of extra work, compiled as a candidate is.
class Programs {
 public:
  explicit Programs(bool allow_unsandboxed) : allow_unsandboxed_(allow_unsandboxed) {}

  Binary compile(const std::string& name, int extra) {
    const fs::path folder = folder_.path() / fmt::format("{}-{}", name, extra);
    fs::create_directories(folder);
    toolchain::HostToolchainOptions options;
    options.command = {folder_.path(), "/usr/bin/c++", {"-O2", "-std=c++17"}};
    options.source = folder_.path() / "planted.cpp";
    options.runtime = KAGENT_RUNTIME;
    options.entry = "planted";
    options.parameters = spec_of(name).parameters;
    options.allow_unsandboxed = allow_unsandboxed_;
    const auto compiler = toolchain::make_host_toolchain(options);
    return benchmarks::compile_planted(
        *compiler,
        {fmt::format("#define EXTRA {}\n#line 1 \"planted.cpp\"\n", extra) + source(kernel_of(name)), folder});
  }

 private:
  bool allow_unsandboxed_;
  util::TemporaryFolder folder_{"kagent-aa"};
};

std::string load_average() {
  double loads[3] = {0, 0, 0};
  return ::getloadavg(loads, 3) == 3 ? fmt::format("{:.2f} {:.2f} {:.2f}", loads[0], loads[1], loads[2]) : "unknown";
}

struct Runs {
  int identical = 200, planted = 20;
};

// Identical programs first; ends early with what it has.
std::vector<Tally> compare_all(const benchmarks::AaSettings& settings, const Runs& asked, std::uint64_t seed,
                               Programs& programs, bool allow_unsandboxed) {
  const auto runner = runner::make_host_runner();
  std::mt19937_64 seeds(seed);
  std::map<std::string, Binary> candidates;
  std::vector<Tally> tallies;
  for (const int extra : {0, 20, 50, 100})
    for (const std::string& kernel : settings.names) {
      if (benchmarks::was_interrupted()) continue;
      if (!candidates.contains(kernel)) candidates[kernel] = programs.compile(kernel, 0);
      const Binary incumbent = extra == 0 ? candidates[kernel] : programs.compile(kernel, extra);
      const auto measure = [&](std::uint64_t run_seed) {
        loop::MeasurementOptions options;
        options.limits.allow_unsandboxed = allow_unsandboxed;
        options.policy.min_gain = settings.min_gain;
        options.seed = run_seed;
        options.interrupted = benchmarks::was_interrupted;
        return loop::measure(*runner, spec_of(kernel), incumbent, candidates[kernel], options);
      };
      const int runs = (extra == 0 ? asked.identical : asked.planted) / static_cast<int>(settings.names.size());
      Tally tally = benchmarks::compare(
          kernel, extra / 1000.0, runs, [&] { return seeds(); }, measure, benchmarks::was_interrupted);
      if (tally.runs > 0) tallies.push_back(std::move(tally));
    }
  return tallies;
}

int run(int argc, char** argv) {
  CLI::App app{"The share of false FASTER verdicts between identical programs, and of planted gains that are found."};
  benchmarks::AaSettings settings;
  settings.names = {"arithmetic"};
  Runs runs;
  bool allow_unsandboxed = false;
  app.add_option("--runs", runs.identical, "A/A runs, of all kernels together")->capture_default_str();
  app.add_option("--planted", runs.planted, "runs for each planted difference, of all kernels together")
      ->capture_default_str();
  benchmarks::add_options(app, settings, {"arithmetic", "streaming", "short"});
  app.add_flag("--allow-unsandboxed", allow_unsandboxed, "run without bubblewrap");
  CLI11_PARSE(app, argc, argv);

  Programs programs(allow_unsandboxed);
  const std::string load_before = load_average();
  const std::uint64_t seed = benchmarks::seed_of(settings);
  benchmarks::end_on_interruption();
  const auto begin = std::chrono::steady_clock::now();
  const auto tallies = compare_all(settings, runs, seed, programs, allow_unsandboxed);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  benchmarks::report(settings,
                     fmt::format("{}; load average before {}, after {}; {:.0f} s; seed {}",
                                 toolchain::machine_description(), load_before, load_average(), took.count(), seed),
                     seed, tallies);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return benchmarks::guarded(run, argc, argv);
}
