// SPDX-License-Identifier: Apache-2.0
#include "loop/tuning.h"

#include <set>

#include <gmock/gmock.h>

#include "build_step/pick.h"
#include "loop/planted_project.h"
#include "loop/tuning_options.h"
#include "runner/processor_counters.h"
#include "store/profile_record.h"
#include "store/trial_store.h"

namespace kagent::loop {
namespace {

using ::testing::HasSubstr;

bool never() {
  return false;
}

class Tuning : public ::testing::Test {
 protected:
  TuningOptions options() const {
    TuningOptions options = tuning_options(project_.variants());
    options.width = 2;
    options.time_budget = std::chrono::seconds(120);
    return options;
  }
  TuningResult tune_once(const TuningOptions& options, const std::function<bool()>& interrupted = never) {
    store::VariantStore variants = project_.variants();
    const build_step::KernelContext context = project_.context();
    return require(tune(context, variants, options, observer_, interrupted));
  }
  std::vector<Trial> trials() const {
    auto store = require(store::TrialStore::open(options().bench.state_folder / "trials.sqlite"));
    const build_step::KernelContext context = project_.context();
    return require(store.trials("scale", context.architecture, context.key.hash()));
  }
  PlantedProject project_;
  RecordingObserver observer_;
};

TEST_F(Tuning, FindsThePlantedBestAndKeepsItAsABranch) {
  const std::string head = project_.shell("git rev-parse HEAD");
  const TuningResult result = tune_once(options());
  ASSERT_TRUE(result.variant) << result.reason;
  EXPECT_EQ(result.variant->evidence.tunables.at("WORK"), 1);
  EXPECT_LT(result.variant->evidence.against_baseline.ratio, 0.5);
  EXPECT_THAT(project_.shell("git branch --list 'kagent/*'"), HasSubstr(result.variant->reference));
  EXPECT_EQ(project_.shell("git status --porcelain"), "");
  EXPECT_EQ(project_.shell("git rev-parse HEAD"), head);

  const build_step::Pick pick = require(build_step::pick(project_.request(), project_.variants()));
  ASSERT_TRUE(pick.choices.front().variant);
  require(build_step::write_sources(pick));
  EXPECT_THAT(require(util::read_file(project_.generated())), HasSubstr("#define WORK 1\n"));
  const PhaseTimes& times = result.times;
  for (const PhaseTimes::Seconds part :
       {times.preparing, times.compiling, times.verifying, times.racing, times.judging})
    EXPECT_GT(part.count(), 0);
  EXPECT_EQ(times.waiting.count(), 0);

  // Baseline and variant were looked at, or it is on record why not.
  const std::string obstacle = runner::ProcessorCounters::obstacle();
  const Evidence& evidence = result.variant->evidence;
  for (const std::string& hash : {std::string(), evidence.source_hash}) {
    const auto profile =
        store::read_profile(store::profile_file(options().bench.state_folder, "scale", evidence.architecture, hash));
    ASSERT_TRUE(profile) << hash;
    const store::ProfileRecord::OfCase& seen = profile->cases.at("large");
    EXPECT_NE(seen.kernels.empty(), seen.problem.empty()) << seen.problem;
    if (!obstacle.empty()) {
      EXPECT_EQ(seen.problem, obstacle);
      EXPECT_THAT(evidence.counters_after, ::testing::IsEmpty());
    }
  }
}

TEST_F(Tuning, RemembersTheResultForTheSameInputs) {
  tune_once(options());
  const std::size_t before = trials().size();
  EXPECT_TRUE(tune_once(options()).concluded_before);
  EXPECT_EQ(trials().size(), before);
}

TEST_F(Tuning, OfTooLittleTimeForATrialHasNoResultToRemember) {
  TuningOptions none = options();
  none.time_budget = std::chrono::seconds(0);
  const TuningResult result = tune_once(none);
  EXPECT_FALSE(result.variant);
  EXPECT_THAT(result.reason, HasSubstr("before anything was tried"));
  auto store = require(store::TrialStore::open(options().bench.state_folder / "trials.sqlite"));
  const build_step::KernelContext context = project_.context();
  EXPECT_FALSE(require(store.conclusion("scale", context.architecture, context.key.hash())));
}

TEST_F(Tuning, GoesOnAfterAnInterruptionWithoutRepeatingATrial) {
  int asked = 0;
  const TuningResult first = tune_once(options(), [&] { return ++asked > 40; });
  const std::size_t before = trials().size();
  const TuningResult second = tune_once(options());
  EXPECT_FALSE(second.concluded_before);
  ASSERT_TRUE(second.variant || first.variant) << second.reason;
  std::set<std::string> hashes;
  for (const Trial& trial : trials()) EXPECT_TRUE(hashes.insert(trial.candidate_hash).second);
  EXPECT_GE(trials().size(), before);
}

TEST_F(Tuning, OfASourceThatOverridesItsTunableSaysSoAndStops) {
  project_.write("src/scale.cpp",
                 "#include \"scale.h\"\n#undef WORK\n#define WORK 2\n"
                 "void scale(const float* x, float* y, int n) { for (int i = 0; i < n; ++i) y[i] = x[i] * WORK; }\n");
  try {
    tune_once(options());
    FAIL() << "no error";
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), HasSubstr("scale.cpp:2:"));
    EXPECT_THAT(error.what(), HasSubstr("WORK"));
  }
}

TEST_F(Tuning, OfTunablesThatTheSourceDoesNotUseSaysSoAndStops) {
  project_.write("src/scale.cpp",
                 "#include \"scale.h\"\n"
                 "void scale(const float* x, float* y, int n) { for (int i = 0; i < n; ++i) y[i] = x[i] * 2; }\n");
  TuningOptions four = options();
  four.width = 4;
  try {
    tune_once(four);
    FAIL() << "no error";
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), HasSubstr("one and the same program"));
  }
}

TEST_F(Tuning, KeepsNothingThatRemembersResultsByASampleOfTheContents) {
  project_.write("src/scale.cpp", R"(#include "scale.h"
#ifndef WORK
#define WORK 40
#endif
void scale(const float* x, float* y, int n) {
  constexpr int work = WORK;
  static float kept[20000], first, last;
  static int size = -1;
  const bool known = work == 1 && n > 3 && n == size && first == x[0] && last == x[n - 1];
  for (int i = 0; i < n; ++i) {
    float value = x[i];
    for (int k = 1; k < work; ++k) {
      volatile float slow = value;
      value = slow;
    }
    y[i] = known ? kept[i] : 2 * value;
    if (work == 1 && n <= 20000) kept[i] = y[i];
  }
  size = n;
  if (n > 0) first = x[0], last = x[n - 1];
}
)");
  tune_once(options());
  int cheats = 0;
  for (const Trial& trial : trials()) {
    if (trial.candidate.tunables.at("WORK") != 1) continue;
    ++cheats;
    EXPECT_EQ(trial.outcome, Outcome::wrong_result) << trial.detail;
    EXPECT_THAT(trial.detail, HasSubstr("large/altered"));
  }
  EXPECT_EQ(cheats, 1);
}

TEST_F(Tuning, OfABaselineThatIsWrongNamesTheElement) {
  project_.write("src/scale.cpp",
                 "#include \"scale.h\"\nvoid scale(const float* x, float* y, int n) "
                 "{ for (int i = 0; i < n; ++i) y[i] = i == 7 ? 0 : 2 * x[i]; }\n");
  store::VariantStore variants = project_.variants();
  const build_step::KernelContext context = project_.context();
  try {
    auto result = tune(context, variants, options(), observer_, never);
    FAIL() << "no error";
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), HasSubstr("y[7]"));
    EXPECT_THAT(error.fix(), HasSubstr(R"(sum, its tolerance needs "reduction_length" and "contraction": true)"));
  }
}

}  // namespace
}  // namespace kagent::loop
