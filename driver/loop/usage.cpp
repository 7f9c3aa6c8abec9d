// SPDX-License-Identifier: Apache-2.0
#include "loop/usage.h"

#include <algorithm>

#include "loop/numeric.h"
#include "values/idea.h"

namespace kagent::loop {
namespace {

bool is_counted(const Usage& usage) {
  return usage.input_tokens > 0 || usage.output_tokens > 0 || usage.cost > 0 || usage.seconds > 0;
}

}  // namespace

Usage usage_behind(const std::vector<Trial>& history, const Trial& trial) {
  // Points of a source's tunables cost nothing themselves: the source was written once.
  const auto written = std::ranges::find_if(history, [&](const Trial& one) {
    return is_counted(one.candidate.usage) && same_family(one.candidate, trial.candidate);
  });
  if (written == history.end()) return trial.candidate.usage;
  Usage usage = written->candidate.usage;
  // Whoever says nothing of an idea has no attempts at it that could be told from others.
  const std::string idea = idea_of(written->candidate);
  if (idea.empty()) return usage;
  for (auto one = history.begin(); one != written; ++one)
    if (!one->score && idea_of(one->candidate) == idea) usage += one->candidate.usage;
  return usage;
}

std::vector<std::optional<Usage>> shared_out(const std::optional<Usage>& whole, std::size_t answers) {
  std::vector<std::optional<Usage>> shares(answers);
  if (!whole) return shares;
  const auto parts = static_cast<std::int64_t>(answers);
  for (std::size_t i = 0; i < answers; ++i) {
    // The first takes what does not divide.
    const auto share = [&](std::int64_t all) { return all / parts + (i == 0 ? all % parts : 0); };
    shares[i] = Usage{.input_tokens = share(whole->input_tokens),
                      .cached_tokens = share(whole->cached_tokens),
                      .output_tokens = share(whole->output_tokens),
                      .cost = whole->cost / static_cast<double>(parts),
                      .seconds = whole->seconds / static_cast<double>(parts)};
  }
  return shares;
}

}  // namespace kagent::loop
