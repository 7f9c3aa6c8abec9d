// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "values/decision.h"
#include "values/progress.h"

// How numbers and events are put into words, for terminal, pipe and page alike.
namespace kagent::report {

// Untrusted text on one line: cleaned, with newlines and tabs as spaces, cut to `limit_bytes`.
std::string one_line(std::string_view untrusted, std::size_t limit_bytes = 500);

// Times with three significant digits in one unit that suits the smallest of them ("12.3 us", "980 ns"). "-" for one
// that is not a positive number.
std::vector<std::string> times_text(const std::vector<double>& times_ns);

// "1.42x" for a time ratio of 0.704 (candidate / incumbent); "?" if it is not a positive number.
std::string speedup_text(double time_ratio);
// "1.42x [1.40x, 1.44x]": the ends of the ratio's interval, the smaller speedup first.
std::string speedup_text(double time_ratio, double low, double high);

// "3:07" or "1:02:03".
std::string clock_text(std::chrono::seconds duration);

// "2 failed (1 compile_failed, 1 wrong_result)"; empty if none did.
std::string failures_text(const StageCounts& counts);
// "24 proposed, 22 compiled, 20 verified, 20 measured, 2 failed (...); best 1.42x"
std::string counts_text(const StageCounts& counts);

// "answers of the model: 4 asked for, 2 read at once, 3 applied, 2 compiled, 1 correct; lost: 1 truncated"
std::string answers_text(const AnswerCounts& counts);

// "1.42x [1.40x, 1.44x] over the incumbent", and over the baseline where that is another one.
std::string accepted_text(const Accepted& accepted);
std::string finished_text(const RunFinished& finished);
// "5 % preparing, 20 % compiling, 30 % verifying, 25 % racing, 20 % judging", what is under 1 % left out; empty if no
// time is known.
std::string times_text(const PhaseTimes& times);
std::string started_text(const RunStarted& started);

}  // namespace kagent::report
