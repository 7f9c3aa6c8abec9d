// SPDX-License-Identifier: Apache-2.0
// What the measuring protocol says of GPU code where the truth is known: the same program as candidate and incumbent
// (every FASTER is false), and an incumbent with a planted share of extra work (every FASTER is a find), for kernels
// from a few microseconds to half a millisecond. Needs a GPU, nvcc and bubblewrap.
#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "aa_run.h"
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

KernelSpec spec_of(const std::string& name) {
  return benchmarks::planted_spec(name, 132 * 256, true);
}

// The kernel with so many thousandths of extra work, compiled as a candidate is.
class Programs {
 public:
  Programs(std::string architecture, fs::path nvcc) : architecture_(std::move(architecture)), nvcc_(std::move(nvcc)) {}

  Binary compile(const std::string& name, int extra) {
    const fs::path folder = folder_.path() / fmt::format("{}-{}", name, extra);
    fs::create_directories(folder);
    toolchain::CudaToolchainOptions options;
    options.command = {folder_.path(), nvcc_, {"-O3", "-std=c++17", "-x", "cu"}};
    options.source = folder_.path() / "planted.cu";
    options.runtime = KAGENT_CUDA_RUNTIME;
    options.entry = "planted";
    options.parameters = spec_of(name).parameters;
    options.architecture = architecture_;
    const auto compiler = toolchain::make_cuda_toolchain(options);
    const Kernel& kernel = *std::ranges::find(kKernels, name, &Kernel::name);
    const std::string text =
        fmt::format("#define EXTRA {}\n#define ROUNDS {}\n#line 1 \"planted.cu\"\n", extra, kernel.rounds) + kSource;
    return benchmarks::compile_planted(*compiler, {text, folder});
  }

 private:
  std::string architecture_;
  fs::path nvcc_;
  util::TemporaryFolder folder_{"kagent-aa"};
};

int run(int argc, char** argv) {
  CLI::App app{"The share of false FASTER verdicts between identical GPU programs, and of planted gains found."};
  benchmarks::AaSettings settings;
  settings.planted_runs = 40;
  settings.names = {"2us", "5us", "50us", "500us"};
  int budget_s = 3600;
  fs::path nvcc = "/usr/local/cuda/bin/nvcc";
  benchmarks::add_options(app, settings, settings.names);
  app.add_option("--seconds", budget_s, "no further run is started past it")->capture_default_str();
  app.add_option("--nvcc", nvcc)->capture_default_str();
  CLI11_PARSE(app, argc, argv);

  const auto devices = require(runner::probe_devices(KAGENT_CUDA_RUNNER));
  const Device& device = devices.front();
  const auto runner = runner::make_cuda_runner({.device = device, .kernel_runner = KAGENT_CUDA_RUNNER});
  Programs programs(device.architecture(), nvcc);
  loop::MeasurementOptions measuring;
  measuring.gpu = device.uuid;
  const auto end = Clock::now() + std::chrono::seconds(budget_s);
  return benchmarks::run_comparisons(
      settings,
      {spec_of,
       [&](const std::string& kernel, int extra) { return programs.compile(kernel, extra); },
       {0, 20, 50},
       *runner,
       measuring,
       [&] { return Clock::now() > end; }},
      [&] { return fmt::format("{} ({})", device.name, device.architecture()); });
}

}  // namespace

int main(int argc, char** argv) {
  return benchmarks::guarded(run, argc, argv);
}
