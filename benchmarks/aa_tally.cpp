// SPDX-License-Identifier: Apache-2.0
#include "aa_tally.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace kagent::benchmarks {
namespace {

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

double drawn_share(const Tally& tally) {
  return static_cast<double>(tally.drawn_faster) / tally.drawn;
}

nlohmann::json json_of(const Tally& tally) {
  nlohmann::json verdicts;
  for (const auto& [comparison, count] : tally.verdicts) verdicts[std::string(name(comparison))] = count;
  nlohmann::json json{{"kernel", tally.kernel},           {"planted", tally.planted}, {"runs", tally.runs},
                      {"failed", tally.failed},           {"verdicts", verdicts},     {"ratios", tally.ratios},
                      {"half_widths", tally.half_widths}, {"pairs", tally.pairs},     {"seconds", tally.seconds}};
  if (!tally.pair_log_ratios.empty()) json["pair_log_ratios"] = tally.pair_log_ratios;
  if (tally.drawn > 0) json["drawn"] = tally.drawn, json["drawn_faster"] = drawn_share(tally);
  return json;
}

Result<Decision> decision_of(const Result<loop::Measured>& measured) {
  if (!measured) return std::unexpected(measured.error());
  if (measured->outcome != Outcome::ok) return failure(measured->detail);
  return measured->decision;
}

}  // namespace

void add(Tally& tally, const Result<Decision>& decision, double seconds) {
  ++tally.runs;
  tally.seconds.push_back(seconds);
  if (!decision) {
    ++tally.failed;
    fmt::print(stderr, "\n{}\n", decision.error().message);
    return;
  }
  ++tally.verdicts[decision->comparison];
  tally.ratios.push_back(decision->ratio);
  tally.half_widths.push_back((std::log(decision->high) - std::log(decision->low)) / 2);
  tally.pairs.push_back(decision->cases.front().pairs);
}

Tally compare(const std::string& kernel, double planted, int runs, const std::function<std::uint64_t()>& seed,
              const std::function<Result<loop::Measured>(std::uint64_t seed)>& measure,
              const std::function<bool()>& interrupted) {
  Tally tally;
  tally.kernel = kernel;
  tally.planted = planted;
  for (int run = 0; run < runs && !interrupted(); ++run) {
    const auto start = std::chrono::steady_clock::now();
    const auto measured = measure(seed());
    if (interrupted()) break;
    add(tally, decision_of(measured), std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    fmt::print(stderr, "\r{} {:.0f} %: {} of {}   ", kernel, 100 * planted, run + 1, runs);
  }
  fmt::print(stderr, "\r{:40}\r", "");
  return tally;
}

void print_table(const std::string& title, const std::vector<Tally>& tallies) {
  fmt::print("{}\n\n", title);
  fmt::print("{:>11} {:>8} {:>5} {:>8} {:>8} {:>8} {:>9} {:>6} {:>8} {:>8} {:>9} {:>6} {:>6}\n", "kernel", "planted",
             "runs", "faster", "slower", "same", "ambiguous", "failed", "off 50%", "off 95%", "half-width", "pairs",
             "s");
  int identical = 0, false_faster = 0;
  for (const Tally& tally : tallies) {
    fmt::print("{}\n", row(tally));
    if (tally.planted > 0) continue;
    identical += tally.runs;
    if (const auto found = tally.verdicts.find(Comparison::faster); found != tally.verdicts.end())
      false_faster += found->second;
  }
  if (identical > 0)
    fmt::print("\nfalse FASTER between identical programs: {} of {} ({:.2f} %)\n", false_faster, identical,
               100.0 * false_faster / identical);
  for (const Tally& tally : tallies)
    if (tally.drawn > 0)
      fmt::print("{} {:.0f} %: of {} comparisons of pairs drawn from all that were measured {:.2f} % said FASTER\n",
                 tally.kernel, tally.planted * 100, tally.drawn, 100 * drawn_share(tally));
  fmt::print(
      "off: distance of the measured from the true ratio in %, half the runs and 95 % of them; half-width: of the\n"
      "confidence interval in %, median; pairs: of fresh processes, mean; s: a run, mean.\n");
}

void write_json(const std::string& file, const std::string& title, std::uint64_t seed,
                const std::vector<Tally>& tallies) {
  nlohmann::json lines = nlohmann::json::array();
  for (const Tally& tally : tallies) lines.push_back(json_of(tally));
  std::ofstream(file) << nlohmann::json{{"title", title}, {"seed", seed}, {"lines", lines}}.dump(1) << "\n";
}

}  // namespace kagent::benchmarks
