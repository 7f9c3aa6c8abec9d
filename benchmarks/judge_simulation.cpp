// SPDX-License-Identifier: Apache-2.0
// How the judge's statistics behave where the truth is known: simulated pairs of processes, with the noise that real
// ones show. Prints the share of each verdict and the mean number of pairs, for several kinds of interval.
#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "judge/interval.h"
#include "judge/judge.h"
#include "judge/student_t.h"

namespace {

using namespace kagent;
using judge::Interval;
using Generator = std::mt19937_64;

struct Noise {
  std::string name;
  double pair_bias;      // sigma of what a pair of processes has of its own
  double start_bias;     // the process that starts first is faster by this
  double sample;         // sigma of a sample
  double drift;          // change of the machine's speed over one pair
  double outlier_share;  // share of pairs that something else on the machine disturbs on one side
  double outlier_size;   // mean of the disturbance
  bool heavy_tails;      // pair biases from Student's t with 3 degrees of freedom
  double disturbed;      // share of samples that are longer, by e^0.7 on average, since something else ran
};

const std::vector<Noise> kNoises{
    {"quiet", 0.001, 0, 0.005, 0, 0, 0, false, 0.01},
    {"usual", 0.005, 0.002, 0.02, 0.01, 0, 0, false, 0.05},
    {"noisy", 0.015, 0.005, 0.05, 0.05, 0, 0, false, 0.1},
    {"beside a build", 0.005, 0.002, 0.03, 0.05, 0, 0, false, 0.35},
    {"heavy tails", 0.005, 0, 0.03, 0.02, 0, 0, true, 0.05},
    {"outlier pairs 5 %", 0.005, 0.002, 0.02, 0.01, 0.05, 0.1, false, 0.05},
    {"outlier pairs 15 %", 0.005, 0.002, 0.02, 0.01, 0.15, 0.1, false, 0.05},
};

constexpr int kBlocks = 8;

judge::PairSamples simulated_pair(const Noise& noise, double log_effect, bool candidate_first, Generator& generator) {
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform;
  double bias = noise.pair_bias * normal(generator);
  if (noise.heavy_tails) bias = noise.pair_bias * std::student_t_distribution<double>(3)(generator);
  bias += candidate_first ? -noise.start_bias : noise.start_bias;
  if (uniform(generator) < noise.outlier_share) {
    const double size = std::exponential_distribution<double>(1 / noise.outlier_size)(generator);
    bias += std::bernoulli_distribution()(generator) ? size : -size;
  }
  judge::PairSamples samples;
  int time = 0;
  for (int block = 0; block < kBlocks; ++block) {
    double at[4];
    for (double& log_time : at) {
      log_time = noise.drift * time++ / (4.0 * kBlocks) + noise.sample * normal(generator);
      if (uniform(generator) < noise.disturbed) log_time += std::exponential_distribution<double>(1 / 0.7)(generator);
    }
    const double effect = log_effect + bias;
    samples.incumbent_ns.push_back(1e6 * std::exp(at[0]));
    samples.candidate_ns.push_back(1e6 * std::exp(at[1] + effect));
    samples.candidate_ns.push_back(1e6 * std::exp(at[2] + effect));
    samples.incumbent_ns.push_back(1e6 * std::exp(at[3]));
  }
  return samples;
}

// Ways to make one log ratio of a pair's samples.
double median_of_blocks(const judge::PairSamples& samples) {
  std::vector<double> blocks;
  for (std::size_t i = 0; i + 1 < samples.candidate_ns.size(); i += 2)
    blocks.push_back((std::log(samples.candidate_ns[i] / samples.incumbent_ns[i]) +
                      std::log(samples.candidate_ns[i + 1] / samples.incumbent_ns[i + 1])) /
                     2);
  return judge::median(std::move(blocks));
}

double at_quantile(const judge::PairSamples& samples, double share) {
  return std::log(judge::quantile(samples.candidate_ns, share) / judge::quantile(samples.incumbent_ns, share));
}

struct Estimator {
  std::string name;
  double (*estimate)(const judge::PairSamples&);
};

const std::vector<Estimator> kEstimators{
    {"median of blocks", median_of_blocks},
    {"median", [](const judge::PairSamples& samples) { return at_quantile(samples, 0.5); }},
    {"lower quartile", [](const judge::PairSamples& samples) { return at_quantile(samples, 0.25); }},
    {"lowest tenth", [](const judge::PairSamples& samples) { return at_quantile(samples, 0.1); }},
    {"minimum", [](const judge::PairSamples& samples) { return at_quantile(samples, 0); }},
};

// Spread of each estimator within identical programs whose pairs have no bias of their own.
void print_estimators(int runs, std::uint64_t seed) {
  fmt::print("Standard deviation of a pair's log ratio in %, without the pairs' own bias, {} blocks:\n\n", kBlocks);
  fmt::print("{:>20}", "");
  for (const Estimator& estimator : kEstimators) fmt::print(" {:>17}", estimator.name);
  for (Noise noise : kNoises) {
    if (noise.outlier_share > 0 || noise.heavy_tails) continue;
    noise.pair_bias = noise.start_bias = 0;
    fmt::print("\n{:>20}", noise.name);
    for (const Estimator& estimator : kEstimators) {
      Generator generator(seed);
      double squares = 0;
      for (int run = 0; run < runs; ++run) {
        const double ratio = estimator.estimate(simulated_pair(noise, 0, false, generator));
        squares += ratio * ratio;
      }
      fmt::print(" {:>17.2f}", 100 * std::sqrt(squares / runs));
    }
  }
  fmt::print("\n");
}

using Method = std::function<Interval(const std::vector<double>&, double alpha, Generator&)>;

Interval signed_rank(const std::vector<double>& values, double alpha) {
  std::vector<double> walsh;
  for (std::size_t i = 0; i < values.size(); ++i)
    for (std::size_t j = i; j < values.size(); ++j) walsh.push_back((values[i] + values[j]) / 2);
  std::sort(walsh.begin(), walsh.end());
  // Exact null distribution of the signed-rank statistic.
  const std::size_t n = values.size(), largest = n * (n + 1) / 2;
  std::vector<double> ways(largest + 1, 0.0);
  ways[0] = 1;
  for (std::size_t rank = 1; rank <= n; ++rank)
    for (std::size_t s = largest; s >= rank; --s) ways[s] += ways[s - rank];
  double tail = 0;
  std::size_t cut = 0;
  while (cut < walsh.size() / 2 && 2 * (tail + ways[cut]) / std::pow(2.0, static_cast<double>(n)) <= alpha)
    tail += ways[cut++];
  const double center = judge::median(walsh);
  if (cut == 0) return {center, -INFINITY, INFINITY};
  return {center, walsh[cut - 1], walsh[walsh.size() - cut]};
}

Interval bootstrap(const std::vector<double>& values, double alpha, Generator& generator) {
  constexpr int kResamples = 2000;
  std::vector<double> medians;
  std::uniform_int_distribution<std::size_t> pick(0, values.size() - 1);
  for (int i = 0; i < kResamples; ++i) {
    std::vector<double> resample;
    for (std::size_t j = 0; j < values.size(); ++j) resample.push_back(values[pick(generator)]);
    medians.push_back(judge::median(std::move(resample)));
  }
  std::sort(medians.begin(), medians.end());
  const auto cut = static_cast<std::size_t>(alpha / 2 * kResamples);
  return {judge::median(values), medians[cut], medians[medians.size() - 1 - cut]};
}

const std::vector<std::pair<std::string, Method>> kMethods{
    {"t", [](const auto& v, double a, Generator&) { return judge::trimmed_interval(v, 0, a); }},
    {"trimmed 1/8", [](const auto& v, double a, Generator&) { return judge::trimmed_interval(v, 0.125, a); }},
    {"trimmed 1/5", [](const auto& v, double a, Generator&) { return judge::trimmed_interval(v, 0.2, a); }},
    {"signed rank", [](const auto& v, double a, Generator&) { return signed_rank(v, a); }},
    {"bootstrap", [](const auto& v, double a, Generator& g) { return bootstrap(v, a, g); }},
};

struct Tally {
  int faster = 0, slower = 0, same = 0, ambiguous = 0;
  long pairs = 0;
};

Comparison sequential(const judge::Policy& policy, const Method& method, const std::vector<double>& all, int& used,
                      Generator& generator) {
  const double alpha = (1 - policy.confidence) / static_cast<double>(policy.looks.size());
  for (const int look : policy.looks) {
    used = look;
    const Interval interval = method(std::vector<double>(all.begin(), all.begin() + look), alpha, generator);
    const Comparison comparison = judge::classify(interval, policy.min_gain);
    if (comparison != Comparison::ambiguous) return comparison;
    if (interval.low > -std::log1p(policy.min_gain)) return comparison;
  }
  return Comparison::ambiguous;
}

Tally simulate(const judge::Policy& policy, const Method& method, const Noise& noise, double gain, int runs,
               std::uint64_t seed) {
  Generator generator(seed);
  Tally tally;
  for (int run = 0; run < runs; ++run) {
    std::vector<double> pairs;
    for (int p = 0; p < policy.looks.back(); ++p)
      pairs.push_back(judge::pair_log_ratio(simulated_pair(noise, -std::log1p(gain), p % 2 == 1, generator)));
    int used = 0;
    switch (sequential(policy, method, pairs, used, generator)) {
      case Comparison::faster:
        ++tally.faster;
        break;
      case Comparison::slower:
        ++tally.slower;
        break;
      case Comparison::same:
        ++tally.same;
        break;
      case Comparison::ambiguous:
        ++tally.ambiguous;
        break;
    }
    tally.pairs += used;
  }
  return tally;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Simulates the judge's statistics and prints the share of each verdict."};
  int runs = 2000;
  std::uint64_t seed = 1;
  judge::Policy policy;
  app.add_option("--runs", runs, "decisions a line")->capture_default_str();
  app.add_option("--seed", seed, "of the simulated noise")->capture_default_str();
  app.add_option("--min-gain", policy.min_gain)->capture_default_str();
  app.add_option("--looks", policy.looks, "numbers of pairs at which a decision is tried")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  print_estimators(runs, seed);
  for (const Noise& noise : kNoises) {
    fmt::print(
        "\n{}: pair bias {:.1f} %, start bias {:.1f} %, sample {:.1f} %, drift {:.0f} %, outlier pairs {:.0f} %, "
        "disturbed samples {:.0f} %{}\n",
        noise.name, noise.pair_bias * 100, noise.start_bias * 100, noise.sample * 100, noise.drift * 100,
        noise.outlier_share * 100, noise.disturbed * 100, noise.heavy_tails ? ", heavy tails" : "");
    fmt::print("{:>14} {:>7} {:>9} {:>9} {:>9} {:>9} {:>7}\n", "interval", "gain", "faster", "slower", "same",
               "ambiguous", "pairs");
    for (const auto& [name, method] : kMethods)
      for (const double gain : {0.0, 0.01, 0.02, 0.05, 0.1}) {
        const Tally tally = simulate(policy, method, noise, gain, runs, seed);
        auto share = [runs](int count) { return fmt::format("{:.2f} %", 100.0 * count / runs); };
        fmt::print("{:>14} {:>6.0f}% {:>9} {:>9} {:>9} {:>9} {:>7.1f}\n", name, gain * 100, share(tally.faster),
                   share(tally.slower), share(tally.same), share(tally.ambiguous),
                   static_cast<double>(tally.pairs) / runs);
      }
  }
}
