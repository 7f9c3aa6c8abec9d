// SPDX-License-Identifier: Apache-2.0
#include "loop/written.h"

#include <algorithm>
#include <utility>

#include "loop/experience.h"
#include "proposer/answer.h"
#include "proposer/candidate_of.h"
#include "proposer/structure.h"
#include "store/lesson_store.h"

namespace kagent::loop {
namespace {

constexpr int kMostKnownLessons = 2'000;
constexpr std::size_t kLargestSource = 256 * 1024;

}  // namespace

Result<Candidate> written_answer(const std::string& text, const ParentSource& parent, const KernelSpec& spec) {
  auto answer = proposer::parse_answer(text, spec.entry);
  if (!answer) return failure(std::string(name(answer.error().error)) + ": " + answer.error().message);
  auto candidate = proposer::candidate_of(*answer, parent.candidate, spec);
  if (!candidate) return failure(candidate.error().name + ": " + candidate.error().message);
  candidate->proposer = "agent";
  candidate->parent = parent.hash;
  return std::move(*candidate);
}

Result<Candidate> written_source(const std::string& source, const ParentSource& parent) {
  if (source.size() > kLargestSource) return failure("the source is larger than 256 KiB");
  if (std::ranges::all_of(source, [](unsigned char c) { return c <= ' '; })) return failure("the source is empty");
  Candidate candidate;
  candidate.source = source;
  candidate.proposer = "agent";
  candidate.launch = parent.candidate.launch;
  candidate.parent = parent.hash;
  candidate.change = "a source as a whole";
  return candidate;
}

double structural_distance(const Candidate& a, const Candidate& b) {
  return proposer::structural_distance(proposer::structure_of(a), proposer::structure_of(b));
}

std::vector<Lesson> known_lessons(const std::filesystem::path& state_folder) {
  auto store = store::LessonStore::open(state_folder / "trials.sqlite");
  if (!store) return {};
  return store->lessons(kMostKnownLessons).value_or(std::vector<Lesson>{});
}

void keep_lessons(const std::filesystem::path& state_folder, const std::vector<Trial>& trials, double parent_ratio,
                  const std::string& pattern, const std::vector<std::string>& features) {
  auto store = store::LessonStore::open(state_folder / "trials.sqlite");
  if (!store) return;
  for (const Trial& trial : trials)
    if (auto lesson = lesson_of(trial, parent_ratio, pattern, features))
      if (!store->add(*lesson)) return;
}

}  // namespace kagent::loop
