// SPDX-License-Identifier: Apache-2.0
// What the measuring protocol says where the truth is known, on real kernels in real processes: the same program as
// candidate and incumbent (every FASTER is false), and an incumbent with a planted share of extra work (every FASTER is
// a find). Prints shares, and the noise that it saw.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <fstream>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

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

struct Tally {
  std::string kernel;
  double planted = 0;  // share of extra work in the incumbent
  int runs = 0, failed = 0;
  std::map<Comparison, int> verdicts;
  std::vector<double> ratios, half_widths, pairs, seconds;
};

double quantile(std::vector<double> values, double share) {
  if (values.empty()) return std::nan("");
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
}

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

void add(Tally& tally, const Result<loop::Measured>& result, double seconds) {
  ++tally.runs;
  tally.seconds.push_back(seconds);
  if (!result || result->outcome != Outcome::ok) {
    ++tally.failed;
    fmt::print(stderr, "\n{}\n", result ? result->detail : result.error().message);
    return;
  }
  const Decision& decision = result->decision;
  ++tally.verdicts[decision.comparison];
  tally.ratios.push_back(decision.ratio);
  tally.half_widths.push_back((std::log(decision.high) - std::log(decision.low)) / 2);
  tally.pairs.push_back(decision.cases.front().pairs);
}

std::string row(const Tally& tally) {
  auto share = [&](Comparison comparison) {
    const auto found = tally.verdicts.find(comparison);
    return fmt::format("{:.1f} %", 100.0 * (found == tally.verdicts.end() ? 0 : found->second) / tally.runs);
  };
  std::vector<double> off;
  for (const double ratio : tally.ratios) off.push_back(std::abs(std::log(ratio) + std::log1p(tally.planted)));
  return fmt::format("{:>11} {:>8} {:>5} {:>8} {:>8} {:>8} {:>9} {:>6} {:>8.2f} {:>8.2f} {:>9.2f} {:>6.1f} {:>6.1f}",
                     tally.kernel, fmt::format("{:.0f} %", tally.planted * 100), tally.runs, share(Comparison::faster),
                     share(Comparison::slower), share(Comparison::same), share(Comparison::ambiguous), tally.failed,
                     100 * quantile(off, 0.5), 100 * quantile(off, 0.95), 100 * quantile(tally.half_widths, 0.5),
                     mean(tally.pairs), mean(tally.seconds));
}

nlohmann::json json_of(const Tally& tally) {
  nlohmann::json verdicts;
  for (const auto& [comparison, count] : tally.verdicts) verdicts[std::string(name(comparison))] = count;
  return {{"kernel", tally.kernel},           {"planted", tally.planted}, {"runs", tally.runs},
          {"failed", tally.failed},           {"verdicts", verdicts},     {"ratios", tally.ratios},
          {"half_widths", tally.half_widths}, {"pairs", tally.pairs},     {"seconds", tally.seconds}};
}

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
  std::vector<Tally> tallies;
  for (const Kernel& kernel : kernels) {
    const KernelSpec spec = spec_of(kernel);
    const Binary candidate = programs.compile(kernel, 0);
    for (const int extra : {0, 20, 50, 100}) {
      const Binary incumbent = programs.compile(kernel, extra);
      Tally tally;
      tally.kernel = kernel.name;
      tally.planted = extra / 1000.0;
      const int all = extra == 0 ? aa_runs : planted_runs;
      const int runs = all / static_cast<int>(kernels.size());
      for (int run = 0; run < runs && !interrupted; ++run) {
        loop::MeasurementOptions options;
        options.policy.min_gain = min_gain;
        options.limits.allow_unsandboxed = allow_unsandboxed;
        options.seed = seeds();
        options.interrupted = [] { return interrupted != 0; };
        const auto start = Clock::now();
        const auto measured = loop::measure(*runner, spec, incumbent, candidate, options);
        if (interrupted) break;
        add(tally, measured, std::chrono::duration<double>(Clock::now() - start).count());
        fmt::print(stderr, "\r{} {} %: {} of {}   ", kernel.name, extra / 10, run + 1, runs);
      }
      if (tally.runs > 0) tallies.push_back(std::move(tally));
    }
  }
  fmt::print(stderr, "\r{:40}\r", "");

  fmt::print("{}; load average before {}, after {}; {:.0f} s; seed {}\n\n", toolchain::machine_description(),
             load_before, load_average(), std::chrono::duration<double>(Clock::now() - begin).count(), seed);
  fmt::print("{:>11} {:>8} {:>5} {:>8} {:>8} {:>8} {:>9} {:>6} {:>8} {:>8} {:>9} {:>6} {:>6}\n", "kernel", "planted",
             "runs", "faster", "slower", "same", "ambiguous", "failed", "off 50%", "off 95%", "half-width", "pairs",
             "s");
  nlohmann::json lines = nlohmann::json::array();
  int identical = 0, false_faster = 0;
  for (const Tally& tally : tallies) {
    fmt::print("{}\n", row(tally));
    lines.push_back(json_of(tally));
    if (tally.planted > 0) continue;
    identical += tally.runs;
    if (const auto found = tally.verdicts.find(Comparison::faster); found != tally.verdicts.end())
      false_faster += found->second;
  }
  if (identical > 0)
    fmt::print("\nfalse FASTER between identical programs: {} of {} ({:.2f} %)\n", false_faster, identical,
               100.0 * false_faster / identical);
  fmt::print(
      "off: distance of the measured from the true ratio in %, half the runs and 95 % of them; half-width: of the\n"
      "confidence interval in %, median; pairs: of fresh processes, mean; s: a run, mean.\n");
  if (!json_file.empty()) std::ofstream(json_file) << nlohmann::json{{"seed", seed}, {"lines", lines}}.dump(1) << "\n";
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
