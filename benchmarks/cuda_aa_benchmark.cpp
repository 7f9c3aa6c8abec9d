// SPDX-License-Identifier: Apache-2.0
// What the measuring protocol says of GPU code where the truth is known: identical programs (every FASTER is false),
// and an incumbent that does a planted share of its work twice (every FASTER is a find), for kernels from some
// microseconds to half a millisecond. Fresh processes are what costs the time, so each pair of them is asked about
// every kernel; each kernel is then decided on its own by the protocol's rule. Needs a GPU, nvcc and bubblewrap.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <optional>
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

// Of one case, all pairs that were measured, in their order.
using Pairs = std::vector<std::vector<judge::PairSamples>>;

struct Compared {
  Decision decision;
  Pairs pairs;
};

// The protocol's rule from pair `begin` on: looks, until more pairs are of no use. Nothing where the pairs run out.
std::optional<Compared> compared(const judge::Policy& policy, const judge::TimedCase& timed, const Pairs& pairs,
                                 std::size_t begin) {
  for (const int look : policy.looks) {
    const std::size_t end = begin + static_cast<std::size_t>(look);
    if (end > pairs.size()) break;
    const Pairs taken(pairs.begin() + static_cast<std::ptrdiff_t>(begin),
                      pairs.begin() + static_cast<std::ptrdiff_t>(end));
    Decision decision = judge::decide(policy, {timed}, taken);
    if (!judge::worth_more_pairs(policy, decision, look)) return Compared{std::move(decision), taken};
  }
  return std::nullopt;
}

// As many comparisons as the pairs give, one after the other: each takes what it needs, which is a multiple of four, so
// that roles and start orders stay balanced.
void add_comparisons(const judge::Policy& policy, const judge::TimedCase& timed, const Pairs& pairs,
                     double seconds_per_pair, Tally& tally) {
  std::size_t begin = 0;
  while (const auto one = compared(policy, timed, pairs, begin)) {
    benchmarks::add(tally, one->decision, seconds_per_pair * static_cast<double>(one->pairs.size()));
    std::vector<double> ratios;
    for (const std::vector<judge::PairSamples>& pair : one->pairs)
      ratios.push_back(judge::pair_log_ratio(pair.front()));
    tally.pair_log_ratios.push_back(std::move(ratios));
    begin += one->pairs.size();
  }
}

// The same with one GPU's pairs drawn anew each time, the half in which the candidate started first from its own kind:
// what the rule makes of the noise that was seen, for far more comparisons than there was time for.
void add_drawn(const judge::Policy& policy, const judge::TimedCase& timed, const Pairs& pairs, std::mt19937_64& random,
               Tally& tally) {
  constexpr int kDraws = 2000;
  const auto most = static_cast<std::size_t>(policy.looks.back());
  if (pairs.size() < 2 * most) return;
  Pairs even, odd;
  for (std::size_t i = 0; i < pairs.size(); ++i) (i % 2 == 0 ? even : odd).push_back(pairs[i]);
  int faster = 0;
  for (int draw = 0; draw < kDraws; ++draw) {
    std::ranges::shuffle(even, random);
    std::ranges::shuffle(odd, random);
    Pairs drawn;
    for (std::size_t i = 0; i < most / 2; ++i) drawn.push_back(even[i]), drawn.push_back(odd[i]);
    const auto one = compared(policy, timed, drawn, 0);
    if (one && one->decision.comparison == Comparison::faster) ++faster;
  }
  tally.drawn += kDraws;
  tally.drawn_faster += faster;
}

struct Programs {
  Binary incumbent, candidate;
};

// What one GPU measured of each case of a spec.
struct Measured {
  std::vector<Pairs> of_cases;
  double seconds_per_pair = 0;  // and case
};

// So many fresh pairs of processes, each asked about every case of the spec. `done` counts those of every GPU.
Measured measure_pairs(runner::Runner& runner, const KernelSpec& spec, const Programs& programs, int pairs,
                       const loop::MeasurementOptions& given, std::uint64_t seed, std::atomic<int>& done) {
  Measured result;
  result.of_cases.resize(spec.cases.size());
  std::mt19937_64 seeds(seed);
  const auto begin = Clock::now();
  int own = 0;
  while (own < pairs && !given.interrupted()) {
    loop::MeasurementOptions options = given;
    options.policy.looks = {given.policy.looks.back()};
    options.seed = seeds();
    const auto measured = require(loop::measure(runner, spec, programs.incumbent, programs.candidate, options));
    if (measured.outcome != Outcome::ok) throw UserError(measured.detail, "see what else runs on the GPU");
    for (const std::vector<judge::PairSamples>& pair : measured.samples.pairs)
      for (std::size_t c = 0; c < pair.size(); ++c) result.of_cases[c].push_back({pair[c]});
    const int more = static_cast<int>(measured.samples.pairs.size());
    own += more;
    fmt::print(stderr, "\r{} pairs, {} cases each   ", done += more, spec.cases.size());
  }
  result.seconds_per_pair = std::chrono::duration<double>(Clock::now() - begin).count() / std::max(own, 1) /
                            static_cast<double>(spec.cases.size());
  return result;
}

struct Gpu {
  Device device;
  std::unique_ptr<runner::Runner> runner;
};

// What each case alone comes to. The GPUs measure side by side; a comparison's pairs are of one of them.
std::vector<Tally> compare_all(const std::vector<Gpu>& gpus, const KernelSpec& spec, const Programs& programs,
                               int pairs, const loop::MeasurementOptions& given, std::mt19937_64& seeds) {
  std::atomic<int> done = 0;
  std::atomic<bool> failed = false;  // what one GPU cannot do, the others need not go on with
  std::vector<std::future<Measured>> running;
  for (const Gpu& gpu : gpus) {
    loop::MeasurementOptions options = given;
    options.gpu = gpu.device.uuid;
    options.interrupted = [&] { return failed || given.interrupted(); };
    running.push_back(std::async(std::launch::async, [&, options, seed = seeds()] {
      try {
        return measure_pairs(*gpu.runner, spec, programs, pairs, options, seed, done);
      } catch (...) {
        failed = true;
        throw;
      }
    }));
  }
  std::vector<Measured> measured;
  for (std::future<Measured>& one : running) measured.push_back(one.get());
  fmt::print(stderr, "\r{:40}\r", "");
  std::vector<Tally> tallies;
  for (std::size_t c = 0; c < spec.cases.size(); ++c) {
    const Case& timed = spec.cases[c];
    Tally tally;
    tally.kernel = timed.name.substr(0, timed.name.find('-'));
    tally.planted = static_cast<double>(timed.sizes.at("extra")) / 1000;
    for (const Measured& of : measured) {
      add_comparisons(given.policy, {timed.name, 1}, of.of_cases[c], of.seconds_per_pair, tally);
      add_drawn(given.policy, {timed.name, 1}, of.of_cases[c], seeds, tally);
    }
    if (tally.runs > 0) tallies.push_back(std::move(tally));
  }
  return tallies;
}

// Those of the first one's architecture.
std::vector<Gpu> open_gpus() {
  const auto devices = require(runner::probe_devices(KAGENT_CUDA_RUNNER));
  std::vector<Gpu> gpus;
  for (const Device& device : devices)
    if (device.architecture() == devices.front().architecture())
      gpus.push_back({device, runner::make_cuda_runner({.device = device, .kernel_runner = KAGENT_CUDA_RUNNER})});
  return gpus;
}

int run(int argc, char** argv) {
  CLI::App app{"The share of false FASTER verdicts between identical GPU programs, and of planted gains found."};
  benchmarks::AaSettings settings;
  settings.names = {"2us", "5us", "50us", "500us"};
  int pairs = 400, planted_pairs = 32, budget_s = 3600;
  fs::path nvcc = "/usr/local/cuda/bin/nvcc";
  benchmarks::add_options(app, settings, settings.names);
  app.add_option("--pairs", pairs, "of fresh processes that are identical, on each GPU that is visible")
      ->capture_default_str();
  app.add_option("--planted-pairs", planted_pairs, "of fresh processes with planted differences, on each")
      ->capture_default_str();
  app.add_option("--seconds", budget_s, "identical programs are not measured past it")->capture_default_str();
  app.add_option("--nvcc", nvcc)->capture_default_str();
  CLI11_PARSE(app, argc, argv);

  const std::vector<Gpu> gpus = open_gpus();
  const Device& device = gpus.front().device;
  const util::TemporaryFolder folder{"kagent-aa"};
  const Programs programs{compile(device, nvcc, folder.path() / "incumbent", true),
                          compile(device, nvcc, folder.path() / "candidate", false)};
  benchmarks::end_on_interruption();
  const auto begin = Clock::now();
  loop::MeasurementOptions measuring;
  measuring.policy.min_gain = settings.min_gain;
  measuring.budget = std::chrono::hours(1);
  const std::uint64_t seed = benchmarks::seed_of(settings);
  std::mt19937_64 seeds(seed);

  measuring.interrupted = benchmarks::was_interrupted;
  std::vector<Tally> planted =
      compare_all(gpus, spec_of(settings.names, kExtras), programs, planted_pairs, measuring, seeds);
  measuring.interrupted = [end = begin + std::chrono::seconds(budget_s)] {
    return benchmarks::was_interrupted() || Clock::now() > end;
  };
  std::vector<Tally> tallies = compare_all(gpus, spec_of(settings.names, {0}), programs, pairs, measuring, seeds);
  std::ranges::move(planted, std::back_inserter(tallies));
  const std::chrono::duration<double> took = Clock::now() - begin;
  benchmarks::report(
      settings,
      fmt::format("{} {} ({}); {:.0f} s; seed {}", gpus.size(), device.name, device.architecture(), took.count(), seed),
      seed, tallies);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return benchmarks::guarded(run, argc, argv);
}
