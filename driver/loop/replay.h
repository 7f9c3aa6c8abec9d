// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "build_step/kernel_context.h"
#include "loop/course_text.h"
#include "loop/tuning.h"
#include "store/trial_store.h"
#include "store/variant_store.h"
#include "values/brief.h"
#include "values/progress.h"
#include "values/trial.h"

namespace kagent::loop {

// What came of deciding a recorded run again.
struct ReplayReport {
  CourseBeginning beginning;
  TuningResult result;       // its variant is the branch of then: nothing was made now
  std::string departure;     // where the replay does otherwise than the run; empty: nowhere
  bool complete = true;      // false: the run was interrupted or failed, and was followed up to there
  int exchanges = 0;         // of the record
  int other_prompts = 0;     // of these, as many were asked in other words
  std::string other_prompt;  // where the first of them differs
  std::size_t steps = 0;
};

// Keeps what a run begins with for its replay: trials, conclusion and lessons, as "before.sqlite" in its folder.
Result<void> keep_beginning(const std::filesystem::path& folder, const std::vector<Trial>& trials,
                            const std::optional<store::Conclusion>& conclusion, const std::vector<Lesson>& lessons);

// The folder of the run that is recorded in `folder` or below it; nothing where there are exchanges alone, as of an
// agent's session. An error where there are several runs.
Result<std::optional<std::filesystem::path>> recorded_run(const std::filesystem::path& folder);

// What the run that is recorded in a folder began with.
Result<CourseBeginning> recorded_beginning(const std::filesystem::path& folder);

// Decides a recorded run again: its answers, measurements and times come from the record, the judge decides from the
// recorded samples. Nothing is compiled, run, measured, asked or accepted, and the project's state is not touched. An
// error if there is no such record, or if it is of other inputs than the kernel's.
Result<ReplayReport> replay_run(const build_step::KernelContext& context, store::VariantStore& variants,
                                const std::filesystem::path& folder, ProgressObserver& progress,
                                const std::function<bool()>& interrupted);

}  // namespace kagent::loop
