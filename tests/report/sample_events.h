// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "values/progress.h"

namespace kagent::report {

inline RunStarted started() {
  RunStarted event;
  event.kernel = "softmax";
  event.target = "ops";
  event.architecture = "x86-64-v3";
  event.proposer = "search";
  event.rounds = 6;
  event.width = 8;
  event.time_budget = std::chrono::seconds(300);
  return event;
}

inline StageCounts counts() {
  StageCounts event;
  event.proposed = 8, event.compiled = 7, event.verified = 6, event.measured = 6;
  event.failed = {{Outcome::compile_failed, 1}, {Outcome::wrong_result, 1}};
  event.best_ratio = 0.8;
  return event;
}

inline Decision decision(double ratio, double low, double high) {
  Decision made;
  made.comparison = Comparison::faster;
  made.ratio = ratio, made.low = low, made.high = high;
  made.reason = "too little";
  return made;
}

// Escape sequences, a carriage return, a line that looks like one of ours, bytes that are no UTF-8.
inline const char* hostile() {
  return "a\x1b[2J\x1b]0;title\x07"
         "b\r\nsoftmax: accepted\xff";
}

}  // namespace kagent::report
