// SPDX-License-Identifier: Apache-2.0
#include "report/wording.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/sample_events.h"

namespace kagent::report {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;

TEST(Wording, GivesTimesThreeDigitsInOneUnit) {
  EXPECT_THAT(times_text({0.5}), ElementsAre("0.50 ns"));
  EXPECT_THAT(times_text({999, 1200}), ElementsAre("999 ns", "1200 ns"));
  EXPECT_THAT(times_text({1000, 99'960, 9'996}), ElementsAre("1.00 us", "100 us", "10.0 us"));
  EXPECT_THAT(times_text({2.5e6, 2.5e9}), ElementsAre("2.50 ms", "2500 ms"));
  EXPECT_THAT(times_text({7e10}), ElementsAre("70.0 s"));
  EXPECT_THAT(times_text({0, -1}), ElementsAre("-", "-"));
}

TEST(Wording, GivesSpeedupsFromTimeRatiosWithTheSmallerEndFirst) {
  EXPECT_EQ(speedup_text(0.5), "2.00x");
  EXPECT_EQ(speedup_text(0.001), "1000x");
  EXPECT_EQ(speedup_text(0.5, 0.4, 0.625), "2.00x [1.60x, 2.50x]");
  EXPECT_EQ(speedup_text(-1), "?");
}

TEST(Wording, GivesDurationsAsAClockDoes) {
  EXPECT_EQ(clock_text(seconds(0)), "0:00");
  EXPECT_EQ(clock_text(seconds(187)), "3:07");
  EXPECT_EQ(clock_text(seconds(3723)), "1:02:03");
  EXPECT_EQ(clock_text(seconds(-5)), "0:00");
}

TEST(Wording, CountsWithoutFailuresOrMeasurementsSayNothingOfThem) {
  StageCounts counts;
  counts.proposed = 8;
  EXPECT_EQ(counts_text(counts), "8 proposed, 0 compiled, 0 verified, 0 measured");
  counts.failed[Outcome::crashed] = 0;
  EXPECT_EQ(failures_text(counts), "");
}

TEST(Wording, AnswersAreCountedFromAskedToCorrectWithWhyTheOthersWereLost) {
  AnswerCounts counts{4, 2, 3, 2, 1, {}};
  EXPECT_EQ(answers_text(counts),
            "answers of the model: 4 asked for, 2 read at once, 3 applied, 2 compiled, 1 correct");
  counts += {2, 0, 0, 0, 0, {{"truncated", 2}, {"no_object", 1}}};
  EXPECT_EQ(answers_text(counts),
            "answers of the model: 6 asked for, 2 read at once, 3 applied, 2 compiled, 1 correct; lost: 1 no_object, 2 "
            "truncated");
}

TEST(Wording, TheTimeOfARunIsDividedWithoutWhatHardlyCounts) {
  PhaseTimes times;
  EXPECT_EQ(times_text(times), "");
  times.preparing = times.judging = PhaseTimes::Seconds(10);
  times.racing = PhaseTimes::Seconds(20);
  times.waiting = PhaseTimes::Seconds(0.1);
  EXPECT_EQ(times_text(times), "25 % preparing, 50 % racing, 25 % judging");
}

TEST(Wording, AnAcceptedFirstGenerationIsComparedWithTheBaselineAlone) {
  EXPECT_EQ(accepted_text({"branch", decision(0.5, 0.5, 0.5), decision(0.5, 0.5, 0.5)}),
            "2.00x [2.00x, 2.00x] over the baseline");
}

TEST(Wording, SaysThatARunIsContinued) {
  RunStarted run = started();
  run.trials_on_record = 16;
  EXPECT_THAT(started_text(run), testing::EndsWith("; goes on after 16 trials on record"));
}

TEST(Wording, KeepsUntrustedTextOnOneBoundedLine) {
  EXPECT_EQ(one_line("a\nb\tc\x1b[1m"), "a b c");
  EXPECT_LE(one_line(std::string(10'000, 'x')).size(), 510);
}

}  // namespace
}  // namespace kagent::report
