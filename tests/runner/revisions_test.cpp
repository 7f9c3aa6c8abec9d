// SPDX-License-Identifier: Apache-2.0
#include "runner/revisions.h"

#include <utility>

#include <gmock/gmock.h>

namespace kagent::runner {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

std::vector<std::pair<std::uint64_t, std::uint64_t>> pairs(const std::optional<std::vector<Revisions::Stretch>>& all) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> result;
  for (const Revisions::Stretch& one : all.value()) result.emplace_back(one.offset, one.length);
  return result;
}

TEST(Revisions, tell_what_changed_since_in_order_and_once) {
  Revisions revisions;
  revisions.follow("x");
  revisions.begin();
  const Revisions::Held first = revisions.now();
  EXPECT_THAT(pairs(revisions.since(first, "x")), IsEmpty());
  revisions.begin();
  revisions.note("x", {100, 10});
  revisions.note("x", {0, 8});
  const Revisions::Held second = revisions.now();
  revisions.begin();
  revisions.note("x", {105, 20});
  revisions.note("x", {8, 4});
  revisions.note("x", {50, 0});
  EXPECT_THAT(pairs(revisions.since(first, "x")), ElementsAre(Pair(0, 12), Pair(100, 25)));
  EXPECT_THAT(pairs(revisions.since(second, "x")), ElementsAre(Pair(8, 4), Pair(105, 20)));
}

TEST(Revisions, know_nothing_of_what_they_do_not_follow_or_of_other_sources) {
  Revisions revisions, other;
  revisions.follow("x");
  other.follow("x");
  revisions.begin();
  other.begin();
  EXPECT_FALSE(revisions.since(revisions.now(), "y"));
  EXPECT_FALSE(revisions.since(other.now(), "x"));
  Revisions::Held later = revisions.now();
  ++later.number;
  EXPECT_FALSE(revisions.since(later, "x"));
}

TEST(Revisions, forget_what_is_long_ago) {
  Revisions revisions;
  revisions.follow("x");
  revisions.begin();
  const Revisions::Held old = revisions.now();
  int remembered = 0;
  do revisions.begin();
  while (revisions.since(old, "x") && ++remembered < 10'000);
  EXPECT_GT(remembered, 10);
  EXPECT_LT(remembered, 10'000) << "it grows without end";
  EXPECT_TRUE(revisions.since(revisions.now(), "x"));
}

}  // namespace
}  // namespace kagent::runner
