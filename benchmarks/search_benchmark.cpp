// SPDX-License-Identifier: Apache-2.0
// Replays measured search spaces: how near the optimum the built-in search comes after so many evaluations, beside
// plain random search. Reads CSV files (also .gz): a column for each tunable, then time_ms, compile_ms, outcome.

#include <algorithm>
#include <array>
#include <charconv>
#include <ctime>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <zlib.h>

#include "proposer/random.h"
#include "proposer/search.h"

namespace {

using namespace kagent;
using namespace kagent::proposer;

constexpr std::array<int, 5> kCheckpoints{25, 50, 100, 200, 400};

struct Measured {
  SearchSpace space;
  std::map<TunableValues, std::optional<double>> times;  // ms; nothing: failed
  double optimum = std::numeric_limits<double>::infinity();
};

std::string read(const std::string& path) {
  gzFile file = gzopen(path.c_str(), "rb");  // reads plain files as they are
  if (file == nullptr) throw CLI::FileError::Missing(path);
  std::string text;
  std::array<char, 1 << 16> block;
  int got = 0;
  while ((got = gzread(file, block.data(), static_cast<unsigned>(block.size()))) > 0)
    text.append(block.data(), static_cast<std::size_t>(got));
  gzclose(file);
  if (got < 0) throw CLI::FileError("'" + path + "' cannot be decompressed");
  return text;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

template <class Number>
Number number(std::string_view text, std::size_t line) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size())
    throw CLI::ValidationError(fmt::format("line {}: '{}' is not a number of the expected kind", line, text));
  return value;
}

Measured load(const std::string& path, const std::vector<std::string>& constraints) {
  const std::string text = read(path);
  Measured measured;
  std::vector<std::set<std::int64_t>> values;
  std::size_t line_number = 0;
  for (std::string_view line : split(text, '\n')) {
    ++line_number;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) continue;
    const std::vector<std::string_view> cells = split(line, ',');
    if (line_number == 1) {
      if (cells.size() < 4)
        throw CLI::ValidationError("the first line must name tunables, time_ms, compile_ms, outcome");
      for (std::size_t i = 0; i + 3 < cells.size(); ++i) measured.space.tunables.push_back({std::string(cells[i]), {}});
      values.resize(measured.space.tunables.size());
      continue;
    }
    if (cells.size() != values.size() + 3)
      throw CLI::ValidationError(fmt::format("line {}: wrong number of cells", line_number));
    TunableValues point;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto value = number<std::int64_t>(cells[i], line_number);
      values[i].insert(value);
      point[measured.space.tunables[i].name] = value;
    }
    std::optional<double> time;
    if (cells.back() == "ok") time = number<double>(cells[values.size()], line_number);
    if (time) measured.optimum = std::min(measured.optimum, *time);
    measured.times[point] = time;
  }
  for (std::size_t i = 0; i < values.size(); ++i)
    measured.space.tunables[i].values.assign(values[i].begin(), values[i].end());
  for (const std::string& constraint : constraints) {
    auto parsed = Expression::parse(constraint);
    if (!parsed) throw CLI::ValidationError(parsed.error().message);
    measured.space.constraints.push_back(*parsed);
  }
  return measured;
}

// Best time after each evaluation.
using Trace = std::vector<double>;

void observe(const Measured& measured, const ProposedPoint& point, std::vector<Observation>& observations,
             Trace& trace) {
  const auto found = measured.times.find(point.values);
  const std::optional<double> time = found == measured.times.end() ? std::nullopt : found->second;
  observations.push_back({point.values, time, false, point.strategy});
  const double before = trace.empty() ? std::numeric_limits<double>::infinity() : trace.back();
  trace.push_back(time ? std::min(before, *time) : before);
}

struct Cost {
  double cpu_s = 0;
  double worst_s = 0;
  int calls = 0;
};

Trace search(const Measured& measured, int evaluations, int width, std::uint64_t seed, Cost& cost) {
  std::vector<Observation> observations;
  Trace trace;
  while (static_cast<int>(trace.size()) < evaluations) {
    const std::clock_t start = std::clock();
    auto points = propose_points(measured.space, observations, width, seed);
    const double spent = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    cost.cpu_s += spent;
    cost.worst_s = std::max(cost.worst_s, spent);
    ++cost.calls;
    if (!points) throw CLI::ValidationError(points.error().message);
    if (points->empty()) break;
    for (const ProposedPoint& point : *points) observe(measured, point, observations, trace);
  }
  trace.resize(std::min(trace.size(), static_cast<std::size_t>(evaluations)));  // the last batch may go past the end
  return trace;
}

// Without replacement, over the rows of the file.
Trace search_randomly(const Measured& measured, int evaluations, std::uint64_t seed) {
  std::vector<const TunableValues*> rows;
  for (const auto& [point, time] : measured.times) rows.push_back(&point);
  Random random(seed);
  random.shuffle(rows);
  std::vector<Observation> observations;
  Trace trace;
  for (const TunableValues* row : rows) {
    if (static_cast<int>(trace.size()) >= evaluations) break;
    observe(measured, {*row, Strategy::exploration, {}}, observations, trace);
  }
  return trace;
}

std::string summary(std::vector<double> numbers, int digits) {
  std::sort(numbers.begin(), numbers.end());
  double sum = 0;
  for (double number : numbers) sum += number;
  return fmt::format("{:6.{}f} | {:6.{}f} | {:6.{}f} | {:6.{}f}", sum / static_cast<double>(numbers.size()), digits,
                     numbers.front(), digits, numbers[numbers.size() / 2], digits, numbers.back(), digits);
}

void print_row(std::string_view strategy, const std::string& what, const std::string& numbers) {
  fmt::print("| {:<8} | {:<33} | {} |\n", strategy, what, numbers);
}

void print_table(std::string_view strategy, const std::vector<Trace>& traces, double optimum, int evaluations) {
  for (int checkpoint : kCheckpoints) {
    if (checkpoint > evaluations) break;
    std::vector<double> shares;
    for (const Trace& trace : traces)
      if (!trace.empty())
        shares.push_back(100 * optimum / trace[std::min(trace.size(), static_cast<std::size_t>(checkpoint)) - 1]);
    if (!shares.empty())
      print_row(strategy, fmt::format("{:>3} evaluations, % of optimum", checkpoint), summary(shares, 1));
  }
  for (double goal : {0.90, 0.95}) {
    std::vector<double> needed;
    int reached = 0;
    for (const Trace& trace : traces) {
      const auto hit = std::find_if(trace.begin(), trace.end(), [&](double best) { return optimum / best >= goal; });
      reached += hit != trace.end();
      needed.push_back(static_cast<double>(hit == trace.end() ? evaluations : hit - trace.begin() + 1));
    }
    print_row(strategy, fmt::format("evaluations to {:.0f} % ({}/{} seeds)", 100 * goal, reached, traces.size()),
              summary(needed, 0));
  }
}

void run(const std::string& path, const std::vector<std::string>& constraints, int evaluations, int seeds, int width) {
  const Measured measured = load(path, constraints);
  fmt::print("{} measured points, batches of {}, {} seeds; share of the optimum: optimum time / best time found\n\n",
             measured.times.size(), width, seeds);
  print_row("strategy", "", "  mean |    min | median |    max");
  fmt::print("|----------|-----------------------------------|--------|--------|--------|--------|\n");
  std::vector<Trace> searched, random;
  Cost cost;
  for (int seed = 1; seed <= seeds; ++seed) {
    searched.push_back(search(measured, evaluations, width, static_cast<std::uint64_t>(seed), cost));
    random.push_back(search_randomly(measured, evaluations, static_cast<std::uint64_t>(seed)));
  }
  print_table("search", searched, measured.optimum, evaluations);
  print_table("random", random, measured.optimum, evaluations);
  fmt::print("\n(evaluations to a share: a seed that did not reach it counts as {})\n", evaluations);
  fmt::print("proposing a batch: {:.0f} ms of CPU on average, {:.0f} ms at most\n",
             1000 * cost.cpu_s / std::max(cost.calls, 1), 1000 * cost.worst_s);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"How near the optimum of a measured search space the built-in search comes"};
  std::string file;
  std::vector<std::string> constraints;
  int evaluations = 200, seeds = 30, width = 8;
  app.add_option("file", file, "CSV or CSV.gz: tunables, then time_ms, compile_ms, outcome")->required();
  app.add_option("--constraint", constraints, "an expression that valid points meet; may be given again")
      ->take_all()
      ->allow_extra_args(false);
  app.add_option("--evaluations", evaluations)->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--seeds", seeds)->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--width", width, "points in a batch")->check(CLI::PositiveNumber)->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  try {
    run(file, constraints, evaluations, seeds, width);
  } catch (const CLI::Error& error) {
    return app.exit(error);
  }
}
