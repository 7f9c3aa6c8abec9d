// SPDX-License-Identifier: Apache-2.0
#include "runner/revisions.h"

#include <algorithm>
#include <atomic>

namespace kagent::runner {
namespace {

// What changed over more than so many revisions is most of the contents anyway.
constexpr std::size_t kRemembered = 64;

std::uint64_t next_source() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

}  // namespace

Revisions::Revisions() : source_(next_source()) {}

void Revisions::begin() {
  ++number_;
  changes_.emplace_back();
  if (changes_.size() > kRemembered) changes_.pop_front();
}

void Revisions::note(const std::string& parameter, Stretch changed) {
  if (!changes_.empty() && changed.length > 0) changes_.back()[parameter].push_back(changed);
}

std::optional<std::vector<Revisions::Stretch>> Revisions::since(const Held& held, const std::string& parameter) const {
  if (held.source != source_ || held.number > number_ || !followed_.contains(parameter)) return std::nullopt;
  const std::uint64_t missing = number_ - held.number;
  if (missing > changes_.size()) return std::nullopt;
  std::vector<Stretch> all;
  for (auto one = changes_.end() - static_cast<std::ptrdiff_t>(missing); one != changes_.end(); ++one)
    if (const auto found = one->find(parameter); found != one->end())
      all.insert(all.end(), found->second.begin(), found->second.end());
  std::ranges::sort(all, {}, &Stretch::offset);
  std::vector<Stretch> merged;
  for (const Stretch& stretch : all) {
    if (merged.empty() || stretch.offset > merged.back().offset + merged.back().length) {
      merged.push_back(stretch);
      continue;
    }
    const std::uint64_t end = std::max(merged.back().offset + merged.back().length, stretch.offset + stretch.length);
    merged.back().length = end - merged.back().offset;
  }
  return merged;
}

}  // namespace kagent::runner
