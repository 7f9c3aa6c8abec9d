// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "values/outcome.h"

namespace kagent {

// How far one output was from what was expected.
struct OutputError {
  std::string parameter;
  std::vector<std::int64_t> worst_index;  // of the element with the largest error against its own bound
  double got = 0, expected = 0;
  double error_ulp = 0;         // of the worst element, in the output's dtype
  double error_over_bound = 0;  // of the worst element; > 1 fails
  double max_abs_error = 0;
  double relative_norm_error = 0;  // Frobenius norm of the error over that of the expected values
  double mean_signed_error = 0;
  std::int64_t failing_elements = 0;
};

// Passed or not, on one set of inputs, with the numbers.
struct Verdict {
  Outcome outcome = Outcome::ok;    // ok, wrong_result or unstable
  std::string label;                // CallInputs::label
  std::string reason;               // one line for people; names case, element, got, expected, ulp, tolerance
  std::vector<OutputError> errors;  // one an output
};

}  // namespace kagent
