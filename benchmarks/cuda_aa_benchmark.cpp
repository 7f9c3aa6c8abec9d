// SPDX-License-Identifier: Apache-2.0
// What the measuring protocol says of GPU code where the truth is known: the same program as candidate and incumbent
// (every FASTER is false), and an incumbent with a planted share of extra work (every FASTER is a find), for kernels
// from a few microseconds to half a millisecond. Needs a GPU, nvcc and bubblewrap.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "aa_tally.h"
#include "loop/measurement.h"
#include "runner/cuda_runner.h"
#include "toolchain/cuda_toolchain.h"
#include "util/files.h"

namespace {

using namespace kagent;
namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

// Rounds of arithmetic that make a kernel take about so long on an H200 (a dependent multiply-add takes 4 cycles of
// 0.5 ns); what it really takes is in the results.
struct Kernel {
  std::string name;
  long rounds;
};
const std::vector<Kernel> kKernels{{"2us", 150}, {"5us", 1'500}, {"50us", 24'000}, {"500us", 250'000}};

// EXTRA thousandths of the rounds once more on a value that is thrown away, in a way that no compiler can see.
constexpr const char* kSource = R"(
#ifndef EXTRA
#define EXTRA 0
#endif
#ifndef ROUNDS
#define ROUNDS 1000
#endif
__global__ void planted_kernel(const float* x, float* y, long n) {
  const long i = blockIdx.x * static_cast<long>(blockDim.x) + threadIdx.x;
  if (i >= n) return;
  float value = x[i], other = value;
  for (long round = 0; round < ROUNDS; ++round) value = value * 0.999f + 0.001f;
  for (long round = 0; round < ROUNDS / 1000.0 * EXTRA; ++round) other = other * 0.999f + 0.001f;
  y[i] = other == 1e30f ? other : value;
}
void planted(const float* x, float* y, long n, cudaStream_t stream) {
  planted_kernel<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>(x, y, n);
}
)";

KernelSpec spec_of(const Kernel& kernel) {
  KernelSpec spec;
  spec.kernel = kernel.name;
  spec.entry = "planted";
  const Expression extent = Expression::parse("n").value();
  spec.parameters = {{"x", ParameterKind::input, DType::float32, {extent}, 0},
                     {"y", ParameterKind::output, DType::float32, {extent}, 0},
                     {"n", ParameterKind::size, DType::int64, {}, 0},
                     {"stream", ParameterKind::stream, DType::float32, {}, 0}};
  Case timed;
  timed.name = kernel.name;
  timed.sizes = {{"n", 132 * 256}};
  timed.timed = true;
  spec.cases = {timed};
  spec.tolerance["y"].rtol = 1.3e-6;
  return spec;
}

// The kernel with so many thousandths of extra work, compiled as a candidate is.
class Programs {
 public:
  Programs(std::string architecture, fs::path nvcc) : architecture_(std::move(architecture)), nvcc_(std::move(nvcc)) {}

  Binary compile(const Kernel& kernel, int extra) {
    const fs::path folder = folder_.path() / fmt::format("{}-{}", kernel.name, extra);
    fs::create_directories(folder);
    toolchain::CudaToolchainOptions options;
    options.command = {folder_.path(), nvcc_, {"-O3", "-std=c++17", "-x", "cu"}};
    options.source = folder_.path() / "planted.cu";
    options.runtime = KAGENT_CUDA_RUNTIME;
    options.entry = "planted";
    options.parameters = spec_of(kernel).parameters;
    options.architecture = architecture_;
    const auto compiler = toolchain::make_cuda_toolchain(options);
    const std::string text =
        fmt::format("#define EXTRA {}\n#define ROUNDS {}\n#line 1 \"planted.cu\"\n", extra, kernel.rounds) + kSource;
    const CompileResult compiled = require(compiler->compile({text, folder}));
    if (compiled.outcome != Outcome::ok) throw UserError("the kernel does not compile: " + compiled.diagnostics);
    return compiled.binary;
  }

 private:
  std::string architecture_;
  fs::path nvcc_;
  util::TemporaryFolder folder_{"kagent-aa"};
};

// Ctrl-C ends the run, with the table of what it has.
volatile std::sig_atomic_t interrupted = 0;

int run(int argc, char** argv) {
  CLI::App app{"The share of false FASTER verdicts between identical GPU programs, and of planted gains found."};
  int aa_runs = 200, planted_runs = 40, budget_s = 3600;
  std::vector<std::string> names{"2us", "5us", "50us", "500us"};
  std::uint64_t seed = 0;
  double min_gain = 0.01;
  fs::path nvcc = "/usr/local/cuda/bin/nvcc";
  std::string json_file;
  app.add_option("--runs", aa_runs, "A/A runs, of all kernels together")->capture_default_str();
  app.add_option("--planted", planted_runs, "runs for each planted difference, of all kernels together")
      ->capture_default_str();
  app.add_option("--kernel", names, "2us, 5us, 50us, 500us")->capture_default_str();
  app.add_option("--min-gain", min_gain)->capture_default_str();
  app.add_option("--seconds", budget_s, "no further run is started past it")->capture_default_str();
  app.add_option("--nvcc", nvcc)->capture_default_str();
  app.add_option("--seed", seed, "of contents and orders; 0: a new one");
  app.add_option("--json", json_file, "also write every ratio there");
  CLI11_PARSE(app, argc, argv);
  std::signal(SIGINT, [](int) { interrupted = 1; });
  if (seed == 0) seed = std::random_device{}();

  const auto devices = require(runner::probe_devices(KAGENT_CUDA_RUNNER));
  const Device& device = devices.front();
  const auto runner = runner::make_cuda_runner({.device = device, .kernel_runner = KAGENT_CUDA_RUNNER});
  Programs programs(device.architecture(), nvcc);
  std::mt19937_64 seeds(seed);
  const auto begin = Clock::now();
  const auto stop = [&] { return interrupted != 0 || Clock::now() - begin > std::chrono::seconds(budget_s); };
  std::vector<benchmarks::Tally> tallies;
  const int kernels = std::max<int>(1, static_cast<int>(names.size()));
  for (const int extra : {0, 20, 50})
    for (const Kernel& kernel : kKernels) {
      if (std::ranges::find(names, kernel.name) == names.end() || stop()) continue;
      const KernelSpec spec = spec_of(kernel);
      const Binary candidate = programs.compile(kernel, 0), incumbent = programs.compile(kernel, extra);
      const auto measure = [&](std::uint64_t run_seed) {
        loop::MeasurementOptions options;
        options.policy.min_gain = min_gain;
        options.seed = run_seed;
        options.gpu = device.uuid;
        options.interrupted = stop;
        return loop::measure(*runner, spec, incumbent, candidate, options);
      };
      const int runs = (extra == 0 ? aa_runs : planted_runs) / kernels;
      tallies.push_back(benchmarks::compare(
          kernel.name, extra / 1000.0, runs, [&] { return seeds(); }, measure, stop));
    }
  std::erase_if(tallies, [](const benchmarks::Tally& tally) { return tally.runs == 0; });
  const std::string title = fmt::format("{} ({}); {:.0f} s; seed {}", device.name, device.architecture(),
                                        std::chrono::duration<double>(Clock::now() - begin).count(), seed);
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
