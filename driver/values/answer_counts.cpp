// SPDX-License-Identifier: Apache-2.0
#include "values/answer_counts.h"

namespace kagent {

AnswerCounts& AnswerCounts::operator+=(const AnswerCounts& other) {
  asked += other.asked;
  read += other.read;
  applied += other.applied;
  compiled += other.compiled;
  passed += other.passed;
  for (const auto& [problem, times] : other.lost) lost[problem] += times;
  return *this;
}

}  // namespace kagent
