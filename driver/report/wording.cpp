// SPDX-License-Identifier: Apache-2.0
#include "report/wording.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "util/text.h"

namespace kagent::report {
namespace {

struct Unit {
  double ns;
  std::string_view name;
};
constexpr std::array<Unit, 4> kUnits{{{1, "ns"}, {1e3, "us"}, {1e6, "ms"}, {1e9, "s"}}};

bool positive(double number) {
  return std::isfinite(number) && number > 0;
}

// Three significant digits, but whole numbers from 100 up.
std::string digits(double number) {
  if (number >= 99.95) return fmt::format("{:.0f}", number);
  return number >= 9.995 ? fmt::format("{:.1f}", number) : fmt::format("{:.2f}", number);
}

}  // namespace

std::string one_line(std::string_view untrusted, std::size_t limit_bytes) {
  std::string text = util::clean(untrusted, limit_bytes);
  for (char& c : text)
    if (c == '\n' || c == '\t') c = ' ';
  return text;
}

std::vector<std::string> times_text(const std::vector<double>& times_ns) {
  double smallest = INFINITY;
  for (double time : times_ns)
    if (positive(time)) smallest = std::min(smallest, time);
  Unit unit = kUnits.front();
  for (const Unit& larger : kUnits)
    if (std::isfinite(smallest) && smallest >= larger.ns) unit = larger;
  std::vector<std::string> texts;
  for (double time : times_ns)
    texts.push_back(positive(time) ? fmt::format("{} {}", digits(time / unit.ns), unit.name) : "-");
  return texts;
}

std::string speedup_text(double time_ratio) {
  if (!positive(time_ratio)) return "?";
  const double speedup = 1 / time_ratio;
  return speedup >= 99.5 ? fmt::format("{:.0f}x", speedup) : fmt::format("{:.2f}x", speedup);
}

std::string speedup_text(double time_ratio, double low, double high) {
  return fmt::format("{} [{}, {}]", speedup_text(time_ratio), speedup_text(high), speedup_text(low));
}

std::string clock_text(std::chrono::seconds duration) {
  const auto seconds = std::max<std::chrono::seconds::rep>(duration.count(), 0);
  if (seconds < 3600) return fmt::format("{}:{:02}", seconds / 60, seconds % 60);
  return fmt::format("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
}

std::string failures_text(const StageCounts& counts) {
  int total = 0;
  std::string parts;
  for (const auto& [outcome, count] : counts.failed) {
    if (count <= 0) continue;
    total += count;
    parts += fmt::format("{}{} {}", parts.empty() ? "" : ", ", count, name(outcome));
  }
  return total == 0 ? "" : fmt::format("{} failed ({})", total, parts);
}

std::string counts_text(const StageCounts& counts) {
  std::string text = fmt::format("{} proposed, {} compiled, {} verified, {} measured", counts.proposed, counts.compiled,
                                 counts.verified, counts.measured);
  if (const std::string failures = failures_text(counts); !failures.empty()) text += ", " + failures;
  if (counts.measured > 0) text += "; best " + speedup_text(counts.best_ratio);
  return text;
}

std::string accepted_text(const Accepted& accepted) {
  const Decision& now = accepted.against_incumbent;
  const Decision& start = accepted.against_baseline;
  std::string over_baseline = speedup_text(start.ratio, start.low, start.high) + " over the baseline";
  const bool first = now.ratio == start.ratio && now.low == start.low && now.high == start.high;
  if (first) return over_baseline;
  return speedup_text(now.ratio, now.low, now.high) + " over the incumbent, " + over_baseline;
}

std::string answers_text(const AnswerCounts& counts) {
  std::string text =
      fmt::format("answers of the model: {} asked for, {} read at once, {} applied, {} compiled, {} correct",
                  counts.asked, counts.read, counts.applied, counts.compiled, counts.passed);
  std::string_view before = "; lost: ";
  for (const auto& [problem, times] : counts.lost) {
    text += fmt::format("{}{} {}", before, times, one_line(problem));
    before = ", ";
  }
  return text;
}

std::string finished_text(const RunFinished& finished) {
  std::string text =
      fmt::format("{} after {} trial{} in {}: {}", finished.improved ? "improved" : "no improvement", finished.trials,
                  finished.trials == 1 ? "" : "s", clock_text(finished.duration), one_line(finished.reason));
  if (const std::string times = times_text(finished.times); !times.empty()) text += "; " + times;
  return text;
}

std::string times_text(const PhaseTimes& times) {
  const std::pair<const char*, PhaseTimes::Seconds> parts[] = {
      {"preparing", times.preparing}, {"compiling", times.compiling}, {"verifying", times.verifying},
      {"racing", times.racing},       {"judging", times.judging},     {"waiting for a model", times.waiting}};
  PhaseTimes::Seconds all{0};
  for (const auto& [name, time] : parts) all += time;
  std::string text;
  for (const auto& [name, time] : parts)
    if (const double percent = time / all * 100; percent >= 0.5)
      text += fmt::format("{}{:.0f} % {}", text.empty() ? "" : ", ", percent, name);
  return text;
}

std::string started_text(const RunStarted& started) {
  std::string text = fmt::format("tuning {} ({}) by {}: up to {} rounds of {} candidates, {} of time",
                                 one_line(started.kernel), one_line(started.architecture), one_line(started.proposer),
                                 started.rounds, started.width, clock_text(started.time_budget));
  if (started.trials_on_record > 0)
    text += fmt::format("; goes on after {} trial{} on record", started.trials_on_record,
                        started.trials_on_record == 1 ? "" : "s");
  return text;
}

}  // namespace kagent::report
