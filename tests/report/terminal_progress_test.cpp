// SPDX-License-Identifier: Apache-2.0
#include "report/terminal_progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/memory_stream.h"
#include "report/sample_events.h"

namespace kagent::report {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::string kUp = "\x1b[1A\x1b[2K";

class TerminalProgressTest : public testing::Test {
 protected:
  Terminal terminal() {
    return {stream_.get(), [this] { return columns_; }, [this] { return now_; }};
  }

  MemoryStream stream_;
  int columns_ = 120;
  std::chrono::steady_clock::time_point now_{};
};

TEST_F(TerminalProgressTest, RedrawsItsLinesInPlace) {
  TerminalProgress progress(terminal());
  progress.on_event(started());
  EXPECT_EQ(stream_.taken(),
            "tuning softmax (x86-64-v3) by search: up to 6 rounds of 8 candidates, 5:00 of time\n"
            "softmax (x86-64-v3)  5:00 left\n");
  now_ += std::chrono::seconds(60);
  progress.on_event(Preparing{"verifying the baseline"});
  EXPECT_EQ(stream_.taken(), kUp + "softmax (x86-64-v3)  4:00 left\n  verifying the baseline\n");
  progress.on_event(RoundStarted{2});
  progress.on_event(counts());
  stream_.taken();
  progress.on_event(MeasuringFinalist{"the baseline", 3, 16});
  EXPECT_EQ(stream_.taken(), kUp + kUp + kUp +
                                 "softmax (x86-64-v3)  round 2 of 6  best 1.25x  4:00 left\n"
                                 "  8 proposed > 7 compiled > 6 verified > 6 measured, 2 failed (1 compile_failed, 1 "
                                 "wrong_result)\n"
                                 "  measuring against the baseline: pair 3 of 16\n");
  now_ += std::chrono::hours(1);
  progress.on_event(counts());
  EXPECT_THAT(stream_.taken(), HasSubstr("time is up"));
}

TEST_F(TerminalProgressTest, PutsLastingNewsAboveTheLiveLines) {
  TerminalProgress progress(terminal());
  progress.on_event(started());
  stream_.taken();
  progress.on_event(Warning{"no bubblewrap"});
  EXPECT_EQ(stream_.taken(), kUp + "warning: no bubblewrap\nsoftmax (x86-64-v3)  5:00 left\n");
  progress.on_event(
      Accepted{"kagent/softmax/x86-64-v3/g001-1a2b3c4d", decision(0.5, 0.49, 0.51), decision(0.5, 0.49, 0.51)});
  EXPECT_EQ(stream_.taken(), kUp +
                                 "accepted kagent/softmax/x86-64-v3/g001-1a2b3c4d: 2.00x [1.96x, 2.04x] over the "
                                 "baseline\nsoftmax (x86-64-v3)  5:00 left\n");
}

TEST_F(TerminalProgressTest, LeavesOnlyTheResultAtTheEnd) {
  TerminalProgress progress(terminal());
  progress.on_event(started());
  progress.on_event(Preparing{"verifying the baseline"});
  stream_.taken();
  progress.on_event(RunFinished{false, "the space is exhausted", 1, std::chrono::seconds(9)});
  EXPECT_EQ(stream_.taken(), kUp + kUp + "softmax: no improvement after 1 trial in 0:09: the space is exhausted\n");
  progress.on_event(Warning{"late"});
  EXPECT_EQ(stream_.taken(), "warning: late\n");
}

TEST_F(TerminalProgressTest, ErasesItselfWhenItIsDestroyedInTheMiddle) {
  {
    TerminalProgress progress(terminal());
    progress.on_event(started());
    progress.on_event(RoundStarted{1});
    stream_.taken();
  }
  EXPECT_EQ(stream_.taken(), kUp + kUp);
}

TEST_F(TerminalProgressTest, MeasuresWithoutARunAroundIt) {
  TerminalProgress progress(terminal());
  progress.on_event(MeasuringFinalist{"the baseline", 1, 4});
  EXPECT_EQ(stream_.taken(), "  measuring against the baseline: pair 1 of 4\n");
}

TEST_F(TerminalProgressTest, KeepsWhatTheSanitizerSaidAndNotThatItRuns) {
  TerminalProgress progress(terminal());
  progress.on_event(CheckingFinalist{"compute-sanitizer memcheck"});
  EXPECT_EQ(stream_.taken(), "  checking under compute-sanitizer memcheck\n");
  progress.on_event(FinalistChecked{"memcheck: clean"});
  EXPECT_THAT(stream_.taken(), testing::EndsWith("compute-sanitizer: memcheck: clean\n"));
}

TEST_F(TerminalProgressTest, NeverDrawsALineThatWouldWrap) {
  for (int width : {0, 1, 20, 33, 79}) {
    columns_ = width;
    TerminalProgress progress(terminal());
    RunStarted run = started();
    run.kernel = "k\xe6\xbc\xa2\xe5\xad\x97" + std::string(300, 'x');  // also characters of double width
    progress.on_event(run);
    stream_.taken();
    progress.on_event(counts());
    const std::string text = stream_.taken();
    std::size_t start = kUp.size(), end = 0;
    ASSERT_EQ(text.substr(0, start), kUp);
    while ((end = text.find('\n', start)) != std::string::npos) {
      EXPECT_LT(end - start, std::max<std::size_t>(20, static_cast<std::size_t>(width)));
      start = end + 1;
    }
    EXPECT_THAT(text, Not(HasSubstr("\xe6")));
  }
}

TEST_F(TerminalProgressTest, PassesNoEscapeCodesOnFromHostileText) {
  TerminalProgress progress(terminal());
  RunStarted run = started();
  run.kernel = hostile();
  progress.on_event(run);
  progress.on_event(Preparing{hostile()});
  progress.on_event(Warning{hostile()});
  progress.on_event(RunFinished{false, hostile(), 0, std::chrono::seconds(0)});
  std::string text = stream_.taken();
  for (std::size_t at; (at = text.find(kUp)) != std::string::npos;) text.erase(at, kUp.size());
  EXPECT_THAT(text, Not(testing::ContainsRegex("[\x1b\x07\r]")));
  EXPECT_THAT(text, Not(HasSubstr("\nsoftmax: accepted")));
}

}  // namespace
}  // namespace kagent::report
