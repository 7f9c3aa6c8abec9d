// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include "proposer/prompt_parts.h"
#include "proposer/prompt_text.h"
#include "values/idea.h"

namespace kagent::proposer {
namespace {

// Of each kind; more would bury what matters.
constexpr std::size_t kMostWorked = 8, kMostNothing = 10, kMostFailed = 10;

bool is_written(const Trial& trial) {
  return trial.candidate.proposer != "search";
}

// One source that was written, with all values of its tunables that were tried.
struct Source {
  const Trial* written = nullptr;  // the first of them
  const Trial* best = nullptr;     // the fastest of those that passed everything, else of those that were measured
  int tried = 0;
};

bool is_better(const Trial& trial, const Trial& best) {
  const auto rank = [](const Trial& one) { return !one.score ? 2 : one.outcome == Outcome::ok ? 0 : 1; };
  if (rank(trial) != rank(best)) return rank(trial) < rank(best);
  return trial.score && *trial.score < *best.score;
}

std::vector<Source> sources_in(const std::vector<Trial>& history) {
  std::vector<Source> sources;
  std::unordered_map<std::string, std::size_t> known;
  for (const Trial& trial : history) {
    if (!is_written(trial)) continue;
    Candidate bare;
    bare.source = trial.candidate.source;
    bare.launch = trial.candidate.launch;
    const auto [place, is_new] = known.emplace(render(bare, ""), sources.size());
    if (is_new) sources.push_back({&trial, &trial, 0});
    Source& source = sources[place->second];
    ++source.tried;
    if (is_better(trial, *source.best)) source.best = &trial;
  }
  return sources;
}

std::string values(const TunableValues& tunables) {
  std::string text;
  for (const auto& [name, value] : tunables) text += fmt::format("{}{}={}", text.empty() ? "" : ", ", name, value);
  return text;
}

std::string told(const Source& source) {
  const Candidate& candidate = source.written->candidate;
  std::string text = "- " + on_one_line(candidate.change.empty() ? candidate.hypothesis : candidate.change);
  if (!candidate.change.empty() && !candidate.hypothesis.empty())
    text += fmt::format(" (because: {})", on_one_line(candidate.hypothesis, 160));
  if (source.best->score) text += fmt::format(": {} over the baseline", speedup(*source.best->score));
  if (source.tried > 1 && !source.best->candidate.tunables.empty())
    text += fmt::format(", with {} (of {} combinations that were tried)",
                        on_one_line(values(source.best->candidate.tunables)), source.tried);
  if (candidate.expected_speedup)
    text += fmt::format(", {:.3g}x over its parent was expected", *candidate.expected_speedup);
  return text;
}

struct Tried {
  std::vector<Source> worked, nothing, failed;
};

Tried sort_out(const std::vector<Source>& sources) {
  Tried tried;
  for (const Source& source : sources) {
    const Trial& best = *source.best;
    if (best.score && *best.score < 0.995 && best.outcome == Outcome::ok)
      tried.worked.push_back(source);
    else if (best.score || best.outcome == Outcome::slower || best.outcome == Outcome::same ||
             best.outcome == Outcome::ambiguous || best.outcome == Outcome::duplicate)
      tried.nothing.push_back(source);
    else
      tried.failed.push_back(source);
  }
  // A failure that was corrected is none, and of several corrections that failed the last one tells the most.
  std::unordered_set<std::string> ideas;
  for (const std::vector<Source>* passed : {&tried.worked, &tried.nothing})
    for (const Source& one : *passed) ideas.insert(idea_of(one.written->candidate));
  std::vector<Source> failed;
  for (auto one = tried.failed.rbegin(); one != tried.failed.rend(); ++one)
    if (std::string idea = idea_of(one->written->candidate); idea.empty() || ideas.insert(std::move(idea)).second)
      failed.push_back(*one);
  // The latest ones first: they stand nearest to the source.
  tried.failed = std::move(failed);
  std::ranges::reverse(tried.nothing);
  std::ranges::stable_sort(tried.worked, {}, [](const Source& source) { return *source.best->score; });
  return tried;
}

std::string lines(std::string_view heading, const std::vector<Source>& sources, std::size_t most, bool failed) {
  if (sources.empty()) return {};
  std::string text = std::string(heading) + "\n";
  for (std::size_t i = 0; i < std::min(sources.size(), most); ++i) {
    text += told(sources[i]);
    const Trial& last = *sources[i].best;
    if (failed)
      text +=
          fmt::format(": {}{}{}", name(last.outcome), last.detail.empty() ? "" : ", ", on_one_line(last.detail, 200));
    text += "\n";
  }
  if (sources.size() > most) text += fmt::format("- and {} more\n", sources.size() - most);
  return text + "\n";
}

// What the search found of the project's own source.
std::string searched(const std::vector<Trial>& history) {
  const Trial* best = nullptr;
  int count = 0;
  for (const Trial& trial : history) {
    if (is_written(trial)) continue;
    ++count;
    if (trial.score && (best == nullptr || *trial.score < *best->score)) best = &trial;
  }
  if (count == 0) return {};
  std::string text = fmt::format("The numeric search tried {} combinations of the baseline's tunables.", count);
  if (best != nullptr)
    text +=
        fmt::format(" The best is {} over the baseline: {}.", speedup(*best->score), values(best->candidate.tunables));
  return text + "\n";
}

}  // namespace

std::string history_part(const Proposal& proposal) {
  const Tried tried = sort_out(sources_in(proposal.history));
  const std::string worked = lines("What worked, the fastest first:", tried.worked, kMostWorked, false);
  const std::string nothing =
      lines("What brought nothing, the latest first; do not try it again:", tried.nothing, kMostNothing, false);
  const std::string failed = lines("What failed, the latest first; avoid it:", tried.failed, kMostFailed, true);
  const std::string search = searched(proposal.history);
  if (worked.empty() && nothing.empty() && failed.empty() && search.empty()) return {};
  return fill("history.txt", {{"worked", worked}, {"nothing", nothing}, {"failed", failed}, {"search", search}});
}

}  // namespace kagent::proposer
