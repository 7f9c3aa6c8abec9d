// SPDX-License-Identifier: Apache-2.0
// What the measuring protocol says of GPU code where the truth is known: identical programs (every FASTER is false),
// and an incumbent that does a planted share of its work twice (every FASTER is a find), for kernels from some
// microseconds to half a millisecond. Fresh processes are what costs the time, so each pair of them is asked about
// every kernel; each kernel is then decided on its own by the protocol's rule. Needs a GPU, nvcc and bubblewrap.
#include <algorithm>
#include <chrono>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "aa_run.h"
#include "judge/judge.h"
#include "runner/cuda_runner.h"
#include "toolchain/cuda_toolchain.h"
#include "util/files.h"

namespace {

using namespace kagent;
using benchmarks::Tally;
namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

// Rounds of arithmetic that make a kernel take about so long on an H200 (a dependent multiply-add takes 4 cycles of
// 0.5 ns); what it really takes is in the results.
struct Kernel {
  std::string name;
  std::int64_t rounds;
};
const std::vector<Kernel> kKernels{{"2us", 150}, {"5us", 1'500}, {"50us", 24'000}, {"500us", 250'000}};

// Thousandths of the rounds that the incumbent makes twice.
const std::vector<int> kExtras{20, 50};

// The second time on a value that is thrown away, in a way that no compiler can see.
constexpr const char* kSource = R"(
__global__ void planted_kernel(const float* x, float* y, long n, long rounds, long again) {
  const long i = blockIdx.x * static_cast<long>(blockDim.x) + threadIdx.x;
  if (i >= n) return;
  float value = x[i], other = value;
  for (long round = 0; round < rounds; ++round) value = value * 0.999f + 0.001f;
  for (long round = 0; round < again; ++round) other = other * 0.999f + 0.001f;
  y[i] = other == 1e30f ? other : value;
}
void planted(const float* x, float* y, long n, long rounds, long extra, cudaStream_t stream) {
  const long again = INCUMBENT ? rounds * extra / 1000 : 0;
  planted_kernel<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>(x, y, n, rounds, again);
}
)";

// A timed case for each kernel and each share of extra work.
KernelSpec spec_of(const std::vector<std::string>& kernels, const std::vector<int>& extras) {
  KernelSpec spec = benchmarks::planted_spec("planted", 132 * 256, true);
  const auto before_stream = spec.parameters.end() - 1;
  spec.parameters.insert(before_stream, {{"rounds", ParameterKind::size, DType::int64, {}, 0},
                                         {"extra", ParameterKind::size, DType::int64, {}, 0}});
  const Case one = spec.cases.front();
  spec.cases.clear();
  for (const int extra : extras)
    for (const std::string& kernel : kernels) {
      Case timed = one;
      timed.name = fmt::format("{}-{}", kernel, extra);
      timed.sizes["rounds"] = std::ranges::find(kKernels, kernel, &Kernel::name)->rounds;
      timed.sizes["extra"] = extra;
      spec.cases.push_back(std::move(timed));
    }
  return spec;
}

// Compiled as a candidate is.
Binary compile(const Device& device, const fs::path& nvcc, const fs::path& folder, bool incumbent) {
  fs::create_directories(folder);
  toolchain::CudaToolchainOptions options;
  options.command = {folder, nvcc, {"-O3", "-std=c++17", "-x", "cu"}};
  options.source = folder / "planted.cu";
  options.runtime = KAGENT_CUDA_RUNTIME;
  options.entry = "planted";
  options.parameters = spec_of({}, {}).parameters;
  options.architecture = device.architecture();
  const auto compiler = toolchain::make_cuda_toolchain(options);
  return benchmarks::compile_planted(
      *compiler, {fmt::format("#define INCUMBENT {:d}\n#line 1 \"planted.cu\"\n", incumbent) + kSource, folder});
}

// One case of what was measured, decided as if it had been the only one: at each look, until more pairs are of no use.
Decision decided_alone(const judge::Policy& policy, const loop::MeasuredSamples& samples, std::size_t at) {
  std::vector<std::vector<judge::PairSamples>> pairs;
  Decision decision;
  for (const std::vector<judge::PairSamples>& pair : samples.pairs) {
    pairs.push_back({pair[at]});
    const int count = static_cast<int>(pairs.size());
    if (std::ranges::find(policy.looks, count) == policy.looks.end()) continue;
    decision = judge::decide(policy, {samples.cases[at]}, pairs);
    if (!judge::worth_more_pairs(policy, decision, count)) break;
  }
  return decision;
}

std::vector<double> log_ratios(const loop::MeasuredSamples& samples, std::size_t at) {
  std::vector<double> ratios;
  for (const std::vector<judge::PairSamples>& pair : samples.pairs) ratios.push_back(judge::pair_log_ratio(pair[at]));
  return ratios;
}

struct Programs {
  Binary incumbent, candidate;
};

// Adds a comparison of each of the spec's cases to its tally; false if it was interrupted.
bool compare_once(runner::Runner& runner, const KernelSpec& spec, const Programs& programs,
                  const loop::MeasurementOptions& given, std::map<std::string, Tally>& tallies) {
  const auto begin = Clock::now();
  loop::MeasurementOptions options = given;
  options.policy.looks = {given.policy.looks.back()};
  const auto measured = loop::measure(runner, spec, programs.incumbent, programs.candidate, options);
  if (measured && measured->interrupted) return false;
  const double seconds =
      std::chrono::duration<double>(Clock::now() - begin).count() / static_cast<double>(spec.cases.size());
  for (std::size_t c = 0; c < spec.cases.size(); ++c) {
    Tally& tally = tallies[spec.cases[c].name];
    if (!measured || measured->outcome != Outcome::ok) {
      benchmarks::add(tally, measured ? failure(measured->detail) : std::unexpected(measured.error()), seconds);
      continue;
    }
    benchmarks::add(tally, decided_alone(given.policy, measured->samples, c), seconds);
    tally.pair_log_ratios.push_back(log_ratios(measured->samples, c));
  }
  return true;
}

// All comparisons of one spec, in the order of its cases.
std::vector<Tally> compare_all(runner::Runner& runner, const KernelSpec& spec, const Programs& programs, int runs,
                               const loop::MeasurementOptions& given, std::mt19937_64& seeds) {
  std::map<std::string, Tally> tallies;
  for (const Case& timed : spec.cases) {
    tallies[timed.name].kernel = timed.name.substr(0, timed.name.find('-'));
    tallies[timed.name].planted = static_cast<double>(timed.sizes.at("extra")) / 1000;
  }
  for (int run = 0; run < runs && !given.interrupted(); ++run) {
    loop::MeasurementOptions options = given;
    options.seed = seeds();
    if (!compare_once(runner, spec, programs, options, tallies)) break;
    fmt::print(stderr, "\r{} of {} times {} cases   ", run + 1, runs, spec.cases.size());
  }
  fmt::print(stderr, "\r{:40}\r", "");
  std::vector<Tally> ordered;
  for (const Case& timed : spec.cases)
    if (tallies[timed.name].runs > 0) ordered.push_back(std::move(tallies[timed.name]));
  return ordered;
}

int run(int argc, char** argv) {
  CLI::App app{"The share of false FASTER verdicts between identical GPU programs, and of planted gains found."};
  benchmarks::AaSettings settings;
  settings.planted_runs = 40;
  settings.names = {"2us", "5us", "50us", "500us"};
  int budget_s = 3600;
  fs::path nvcc = "/usr/local/cuda/bin/nvcc";
  benchmarks::add_options(app, settings, settings.names);
  app.add_option("--seconds", budget_s, "identical programs are not compared past it")->capture_default_str();
  app.add_option("--nvcc", nvcc)->capture_default_str();
  CLI11_PARSE(app, argc, argv);

  const auto devices = require(runner::probe_devices(KAGENT_CUDA_RUNNER));
  const Device& device = devices.front();
  const auto runner = runner::make_cuda_runner({.device = device, .kernel_runner = KAGENT_CUDA_RUNNER});
  const util::TemporaryFolder folder{"kagent-aa"};
  const Programs programs{compile(device, nvcc, folder.path() / "incumbent", true),
                          compile(device, nvcc, folder.path() / "candidate", false)};
  benchmarks::end_on_interruption();
  const auto begin = Clock::now();
  loop::MeasurementOptions measuring;
  measuring.gpu = device.uuid;
  measuring.policy.min_gain = settings.min_gain;
  measuring.budget = std::chrono::hours(1);
  const std::uint64_t seed = benchmarks::seed_of(settings);
  std::mt19937_64 seeds(seed);
  const auto kernels = static_cast<int>(settings.names.size());

  measuring.interrupted = benchmarks::was_interrupted;
  std::vector<Tally> planted = compare_all(*runner, spec_of(settings.names, kExtras), programs,
                                           settings.planted_runs / kernels, measuring, seeds);
  measuring.interrupted = [end = begin + std::chrono::seconds(budget_s)] {
    return benchmarks::was_interrupted() || Clock::now() > end;
  };
  std::vector<Tally> tallies =
      compare_all(*runner, spec_of(settings.names, {0}), programs, settings.aa_runs / kernels, measuring, seeds);
  std::ranges::move(planted, std::back_inserter(tallies));
  const std::chrono::duration<double> took = Clock::now() - begin;
  benchmarks::report(settings,
                     fmt::format("{} ({}); {:.0f} s; seed {}", device.name, device.architecture(), took.count(), seed),
                     seed, tallies);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return benchmarks::guarded(run, argc, argv);
}
