// SPDX-License-Identifier: Apache-2.0
#include "runner/recurrence.h"

#include <gtest/gtest.h>

namespace kagent::runner {
namespace {

TEST(Recurrence, speaks_up_at_the_fourth_time_in_a_row) {
  Recurrence recurrence;
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(recurrence.note(true));
  EXPECT_TRUE(recurrence.note(true));
}

TEST(Recurrence, says_nothing_of_what_happens_less_than_half_of_the_time) {
  Recurrence recurrence;
  for (int i = 0; i < 300; ++i) EXPECT_FALSE(recurrence.note(i % 3 == 2)) << i;
}

TEST(Recurrence, notices_what_happens_every_other_time) {
  Recurrence recurrence;
  bool noticed = false;
  for (int i = 0; i < 8; ++i) noticed = recurrence.note(i % 2 == 1);
  EXPECT_TRUE(noticed);
}

TEST(Recurrence, forgets_a_good_start_within_the_last_occasions) {
  Recurrence recurrence;
  for (int i = 0; i < 1000; ++i) ASSERT_FALSE(recurrence.note(false));
  for (int i = 0; i < 15; ++i) ASSERT_FALSE(recurrence.note(true)) << i;
  EXPECT_TRUE(recurrence.note(true));
}

}  // namespace
}  // namespace kagent::runner
