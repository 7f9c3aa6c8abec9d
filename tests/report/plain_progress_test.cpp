// SPDX-License-Identifier: Apache-2.0
#include "report/plain_progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/memory_stream.h"
#include "report/sample_events.h"

namespace kagent::report {
namespace {

TEST(PlainProgress, SaysEachImportantThingOnOneLine) {
  MemoryStream stream;
  PlainProgress progress(stream.get());
  progress.on_event(started());
  progress.on_event(Preparing{"verifying the baseline"});
  progress.on_event(RoundStarted{1});
  StageCounts early;
  early.proposed = 8;
  progress.on_event(early);
  progress.on_event(counts());
  progress.on_event(RoundStarted{2});
  progress.on_event(MeasuringFinalist{"the incumbent", 1, 16});
  progress.on_event(MeasuringFinalist{"the incumbent", 2, 16});
  progress.on_event(MeasuringFinalist{"the baseline", 1, 16});
  progress.on_event(CheckingFinalist{"compute-sanitizer memcheck"});
  progress.on_event(FinalistChecked{"memcheck: clean"});
  progress.on_event(
      Accepted{"kagent/softmax/x86-64-v3/g002-1a2b3c4d", decision(0.8, 0.78, 0.82), decision(0.5, 0.49, 0.51)});
  progress.on_event(Rejected{decision(0.999, 0.99, 1.01)});
  progress.on_event(Warning{"no bubblewrap"});
  progress.on_event(RunFinished{true, "rounds used", 16, std::chrono::seconds(75)});
  EXPECT_EQ(
      stream.taken(),
      "softmax: tuning softmax (x86-64-v3) by search: up to 6 rounds of 8 candidates, 5:00 of time\n"
      "softmax: verifying the baseline\n"
      "softmax: round 1 of 6\n"
      "softmax: 8 proposed, 7 compiled, 6 verified, 6 measured, 2 failed (1 compile_failed, 1 wrong_result); best "
      "1.25x\n"
      "softmax: round 2 of 6\n"
      "softmax: measuring against the incumbent, up to 16 pairs of processes\n"
      "softmax: measuring against the baseline, up to 16 pairs of processes\n"
      "softmax: checking under compute-sanitizer memcheck\n"
      "softmax: compute-sanitizer: memcheck: clean\n"
      "softmax: accepted kagent/softmax/x86-64-v3/g002-1a2b3c4d: 1.25x [1.22x, 1.28x] over the incumbent, 2.00x "
      "[1.96x, 2.04x] over the baseline\n"
      "softmax: not kept: too little\n"
      "softmax: warning: no bubblewrap\n"
      "softmax: improved after 16 trials in 1:15: rounds used\n");
}

TEST(PlainProgress, SaysTheNextMeasurementAgainstTheSameOpponent) {
  MemoryStream stream;
  PlainProgress progress(stream.get());
  progress.on_event(MeasuringFinalist{"the incumbent", 4, 16});
  stream.taken();
  progress.on_event(MeasuringFinalist{"the incumbent", 1, 16});
  EXPECT_EQ(stream.taken(), "measuring against the incumbent, up to 16 pairs of processes\n");
}

TEST(PlainProgress, LeavesHostileTextNoControlOverTheTerminalOrTheLines) {
  MemoryStream stream;
  PlainProgress progress(stream.get());
  RunStarted run = started();
  run.kernel = run.architecture = run.proposer = hostile();
  progress.on_event(run);
  progress.on_event(Preparing{hostile()});
  progress.on_event(MeasuringFinalist{hostile(), 1, 4});
  progress.on_event(CheckingFinalist{hostile()});
  progress.on_event(FinalistChecked{hostile()});
  progress.on_event(Accepted{hostile(), decision(0.5, 0.5, 0.5), decision(0.5, 0.5, 0.5)});
  Decision bad = decision(1, 1, 1);
  bad.reason = hostile();
  progress.on_event(Rejected{bad});
  AnswerCounts answers;
  answers.lost[hostile()] = 1;
  progress.on_event(Answered{answers});
  progress.on_event(Warning{hostile()});
  progress.on_event(RunFinished{false, hostile(), 0, std::chrono::seconds(0)});
  const std::string text = stream.taken();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 10);
  EXPECT_THAT(text, testing::Not(testing::ContainsRegex("[\x1b\x07\r]")));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("\nsoftmax: accepted")));
}

}  // namespace
}  // namespace kagent::report
