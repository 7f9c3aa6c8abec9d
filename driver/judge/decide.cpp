// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "judge/interval.h"
#include "judge/judge.h"

namespace kagent::judge {
namespace {

using Pairs = std::vector<std::vector<PairSamples>>;

// `log_ratios[c][p]` over the pairs in which every case has one.
std::vector<std::vector<double>> log_ratios(std::size_t cases, const Pairs& pairs) {
  std::vector<std::vector<double>> ratios(cases);
  for (const std::vector<PairSamples>& pair : pairs) {
    std::vector<double> of_pair;
    for (const PairSamples& samples : pair) of_pair.push_back(pair_log_ratio(samples));
    if (of_pair.size() != cases || std::any_of(of_pair.begin(), of_pair.end(), [](double r) { return std::isnan(r); }))
      continue;
    for (std::size_t c = 0; c < cases; ++c) ratios[c].push_back(of_pair[c]);
  }
  return ratios;
}

// Weighted mean over the cases, in each pair: what the cases of one pair share, its bias, stays one error.
std::vector<double> weighted(const std::vector<TimedCase>& cases, const std::vector<std::vector<double>>& ratios) {
  double total = 0;
  for (const TimedCase& timed : cases) total += timed.weight;
  std::vector<double> mean(ratios.empty() ? 0 : ratios[0].size(), 0.0);
  for (std::size_t c = 0; c < cases.size(); ++c)
    for (std::size_t p = 0; p < mean.size(); ++p) mean[p] += cases[c].weight / total * ratios[c][p];
  return mean;
}

double typical_time(const Pairs& pairs, std::size_t c, std::vector<double> PairSamples::*side) {
  std::vector<double> times;
  for (const std::vector<PairSamples>& pair : pairs)
    if (c < pair.size() && !(pair[c].*side).empty()) times.push_back(quantile(pair[c].*side, kSampleQuantile));
  return median(std::move(times));
}

// Time ratio in the middle of all samples. It is noisier than the quartile, but knows programs that are fast only in
// some of their calls.
double middle_ratio(const Pairs& pairs, std::size_t c) {
  PairSamples all;
  for (const std::vector<PairSamples>& pair : pairs) {
    if (c >= pair.size()) continue;
    const PairSamples kept = complete(pair[c]);
    all.incumbent_ns.insert(all.incumbent_ns.end(), kept.incumbent_ns.begin(), kept.incumbent_ns.end());
    all.candidate_ns.insert(all.candidate_ns.end(), kept.candidate_ns.begin(), kept.candidate_ns.end());
  }
  return median(std::move(all.candidate_ns)) / median(std::move(all.incumbent_ns));
}

std::string gain(double ratio) {
  return ratio <= 1 ? fmt::format("{:.3f}x", 1 / ratio) : fmt::format("{:.1f} % slower", (ratio - 1) * 100);
}

std::string interval_text(double low, double high, double confidence) {
  return fmt::format("time ratio {:.3f} ... {:.3f} at {:.4g} %", low, high, confidence * 100);
}

// The case, if any, that may not be accepted: one that is slower for certain before one that may be.
const CaseRatio* offending_case(const Policy& policy, const Decision& decision) {
  const double allowed = 1 + policy.max_regression;
  for (const CaseRatio& timed : decision.cases)
    if (timed.low > allowed) return &timed;
  for (const CaseRatio& timed : decision.cases)
    if (timed.high > allowed) return &timed;
  return nullptr;
}

void refuse_regression(const Policy& policy, Decision& decision) {
  const CaseRatio* timed = offending_case(policy, decision);
  if (!timed) return;
  const bool certain = timed->low > 1 + policy.max_regression;
  decision.comparison = certain ? Comparison::slower : Comparison::ambiguous;
  decision.reason = fmt::format("{} over all, but case {} {} slower than the {:.3g} % allowed: {}",
                                gain(decision.ratio), timed->case_name, certain ? "is" : "may be",
                                policy.max_regression * 100, interval_text(timed->low, timed->high, policy.confidence));
}

void refuse_only_at_best(const Policy& policy, const Pairs& pairs, Decision& decision) {
  for (std::size_t c = 0; c < decision.cases.size(); ++c) {
    const double ratio = middle_ratio(pairs, c);
    if (ratio <= 1 + policy.max_regression || decision.comparison != Comparison::faster) continue;
    decision.comparison = Comparison::ambiguous;
    decision.reason = fmt::format("{} over all, but in the middle of all samples case {} takes {:.3f} of the time",
                                  gain(decision.ratio), decision.cases[c].case_name, ratio);
  }
}

std::string reason(const Policy& policy, const Decision& decision, std::size_t pairs) {
  const std::string evidence =
      fmt::format("{}, {} pairs", interval_text(decision.low, decision.high, policy.confidence), pairs);
  switch (decision.comparison) {
    case Comparison::faster:
      return fmt::format("{} faster: {}", gain(decision.ratio), evidence);
    case Comparison::slower:
      return fmt::format("{}: {}", gain(decision.ratio), evidence);
    case Comparison::same:
      return fmt::format("no difference of {:.3g} % or more: {}", policy.min_gain * 100, evidence);
    case Comparison::ambiguous:
      // An interval wider than this hides min_gain whatever lies in its middle.
      if (std::log(decision.high / decision.low) / 2 > policy.min_gain / 2)
        return fmt::format("too noisy to tell: {}", evidence);
      return fmt::format("a difference too small to count, under {:.3g} %: {}", policy.min_gain * 100, evidence);
  }
  std::unreachable();
}

}  // namespace

Decision decide(const Policy& policy, const std::vector<TimedCase>& cases, const Pairs& pairs) {
  Decision decision;
  decision.confidence = policy.confidence;
  if (const std::string text = problem(policy); !text.empty() || cases.empty()) {
    decision.reason = text.empty() ? "there is no timed case" : text;
    return decision;
  }
  const double alpha = (1 - policy.confidence) / static_cast<double>(policy.looks.size());
  const std::vector<std::vector<double>> ratios = log_ratios(cases.size(), pairs);
  const std::size_t count = ratios[0].size();
  for (std::size_t c = 0; c < cases.size(); ++c) {
    const Interval interval = trimmed_interval(ratios[c], kTrim, alpha);
    decision.cases.push_back({cases[c].name, cases[c].weight, typical_time(pairs, c, &PairSamples::incumbent_ns),
                              typical_time(pairs, c, &PairSamples::candidate_ns), std::exp(interval.center),
                              std::exp(interval.low), std::exp(interval.high), static_cast<int>(count),
                              classify(interval, policy.min_gain)});
  }
  const Interval interval = trimmed_interval(weighted(cases, ratios), kTrim, alpha);
  decision.ratio = std::exp(interval.center);
  decision.low = std::exp(interval.low);
  decision.high = std::exp(interval.high);
  decision.comparison = classify(interval, policy.min_gain);
  // Fewer than the first look are no evidence, however alike they are.
  if (static_cast<int>(count) < policy.looks.front()) decision.comparison = Comparison::ambiguous;
  decision.reason = reason(policy, decision, count);
  if (decision.comparison == Comparison::faster) refuse_regression(policy, decision);
  if (decision.comparison == Comparison::faster) refuse_only_at_best(policy, pairs, decision);
  decision.accepted = decision.comparison == Comparison::faster;
  return decision;
}

bool worth_more_pairs(const Policy& policy, const Decision& decision, int pairs_so_far) {
  if (decision.comparison != Comparison::ambiguous || pairs_so_far >= policy.looks.back()) return false;
  // With the confidence of the verdict, the gain is too small, whatever else it is.
  return decision.low <= 1 / (1 + policy.min_gain);
}

}  // namespace kagent::judge
