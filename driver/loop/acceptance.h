// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "loop/evaluation.h"
#include "loop/measurement.h"
#include "loop/workbench.h"
#include "store/variant_store.h"
#include "values/variant.h"

namespace kagent::loop {

// What a candidate has to beat.
struct Incumbent {
  Binary binary;                   // as the build makes it
  std::optional<Variant> variant;  // absent: the baseline

  // As profiles are filed by: empty of the baseline.
  std::string source_hash() const { return variant ? variant->evidence.source_hash : std::string(); }
};

// Looks at what has to be beaten, as profile() of loop/profile.h does at any program.
void profile(Workbench& bench, const Incumbent& incumbent);

struct JudgedFinalist {
  Outcome outcome = Outcome::ok;  // ok: accepted
  std::string detail;
  bool interrupted = false;        // then nothing was decided
  std::optional<Variant> variant;  // if accepted
  std::optional<Binary> binary;    // as the build makes it; if accepted
  // What was decided from: against the incumbent, and then against the baseline.
  std::vector<Measured> measured = {};
  std::optional<double> roofline_share = {};  // of what was accepted, over all timed cases
};

// How the detail of an accepted trial begins; the branch follows.
inline constexpr char kAcceptedAs[] = "accepted as ";

// The last step for one candidate: checked under a fresh secret seed, measured against the incumbent, and, if it is
// faster, against the baseline on fresh samples; device code then runs under compute-sanitizer where that is installed.
// Accepted, it becomes a generation in the store.
Result<JudgedFinalist> judge_finalist(Workbench& bench, store::VariantStore& variants, const Incumbent& incumbent,
                                      const Evaluated& finalist, MeasurementOptions options,
                                      ProgressObserver& progress);

}  // namespace kagent::loop
