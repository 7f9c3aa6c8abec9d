// SPDX-License-Identifier: Apache-2.0
#include "loop/sanitizer_check.h"

#include <cstdlib>
#include <fstream>

#include "loop/planted_project.h"
#include "runner/cuda_session.h"
#include "util/files.h"

namespace kagent::loop {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;
using namespace std::chrono_literals;

// Stands in for compute-sanitizer: runs the program under a fake of the driver's library, and finds as many errors as a
// file beside it says for this tool and program. "hang" there makes it say nothing at all.
constexpr const char* kFakeSanitizer = R"SH(#!/bin/sh
here=${0%/*}
tool=$2
while [ "${1#--}" != "$1" ]; do shift 2; done
planted="$here/$tool-${1##*/}"
errors=0
[ ! -e "$planted" ] || read errors < "$planted"
while [ "$errors" = hang ]; do sleep 60; done
"$@" || exit 1
[ "$errors" = 0 ] || echo "========= Error: planted in $tool"
echo "========= ERROR SUMMARY: $errors errors"
)SH";

class SanitizerCheck : public testing::Test {
 protected:
  void SetUp() override {
    if (const char* before = std::getenv("LD_LIBRARY_PATH")) before_ = before;
    ::setenv("LD_LIBRARY_PATH", KAGENT_FAKE_DRIVER, 1);
    for (const fs::path& program : {finalist_.executable, baseline_.executable})
      fs::copy_file(KAGENT_FAKE_CANDIDATE, program);
    options_.runner.kernel_runner = runner::kernel_runner();
    options_.how.sanitizer = folder_.path() / "tool/compute-sanitizer";
    options_.how.allow_unsandboxed = true;
    plant("compute-sanitizer", kFakeSanitizer);
    fs::permissions(options_.how.sanitizer, fs::perms::owner_all);
  }
  void TearDown() override { ::setenv("LD_LIBRARY_PATH", before_.c_str(), 1); }

  void plant(const std::string& name, const std::string& text) const {
    fs::create_directories(folder_.path() / "tool");
    std::ofstream(folder_.path() / "tool" / name) << text;
  }
  SanitizerReport check() {
    const auto parameters = runner::launcher_parameters();
    const CallInputs inputs = runner::call_inputs(100, kScale);
    return check_under_sanitizer({finalist_, baseline_, parameters, inputs}, options_, progress_);
  }

  const util::TemporaryFolder folder_{"sanitizer-check"};
  std::string before_;
  const Binary finalist_{folder_.path() / "finalist", "", ""}, baseline_{folder_.path() / "baseline", "", ""};
  SanitizerCheckOptions options_;
  RecordingObserver progress_;
};

TEST_F(SanitizerCheck, that_finds_nothing_names_the_tools_that_looked) {
  const SanitizerReport report = check();
  EXPECT_EQ(report.outcome, Outcome::ok) << report.detail;
  EXPECT_EQ(in_words(report.tools), "memcheck, racecheck, initcheck, synccheck: clean");
  std::vector<std::string> told;
  for (const CheckingFinalist& event : progress_.all<CheckingFinalist>()) told.push_back(event.tool);
  EXPECT_THAT(told, ElementsAre("compute-sanitizer memcheck", "compute-sanitizer racecheck",
                                "compute-sanitizer initcheck", "compute-sanitizer synccheck"));
  ASSERT_EQ(progress_.all<FinalistChecked>().size(), 1U);
  EXPECT_EQ(progress_.all<FinalistChecked>()[0].result, in_words(report.tools));
}

TEST_F(SanitizerCheck, that_finds_a_race_is_an_outcome_of_its_own) {
  plant("racecheck-finalist", "3\n");
  const SanitizerReport report = check();
  EXPECT_EQ(report.outcome, Outcome::sanitizer_error);
  EXPECT_EQ(report.detail, "compute-sanitizer racecheck: 3 errors: Error: planted in racecheck");
  EXPECT_EQ(in_words(report.tools),
            "memcheck: clean; racecheck: 3 errors: Error: planted in racecheck; initcheck, synccheck: not asked any "
            "more");
}

TEST_F(SanitizerCheck, holds_a_finalist_to_no_more_than_the_projects_own_source_shows) {
  plant("initcheck-finalist", "2\n");
  plant("initcheck-baseline", "2\n");
  const SanitizerReport same = check();
  EXPECT_EQ(same.outcome, Outcome::ok) << same.detail;
  EXPECT_EQ(same.tools.at("initcheck"), "2 errors: Error: planted in initcheck (the baseline has 2 errors)");
  EXPECT_EQ(same.tools.at("synccheck"), "clean");

  plant("initcheck-baseline", "1\n");
  EXPECT_EQ(check().outcome, Outcome::sanitizer_error);
}

TEST_F(SanitizerCheck, that_takes_too_long_says_nothing_about_the_code) {
  for (const char* tool : {"memcheck", "racecheck", "initcheck", "synccheck"})
    plant(tool + std::string("-finalist"), "hang\n");
  options_.how.limit = 200ms;
  options_.total = 1ms;
  const SanitizerReport report = check();
  EXPECT_EQ(report.outcome, Outcome::ok);
  EXPECT_EQ(in_words(report.tools),
            "memcheck: timed_out: no answer within 0.2 s; racecheck, initcheck, synccheck: not asked: the tools before "
            "it took 0.001 s");
}

TEST_F(SanitizerCheck, without_the_tool_says_so) {
  options_.how.sanitizer.clear();
  const SanitizerReport report = check();
  EXPECT_EQ(report.outcome, Outcome::ok);
  EXPECT_EQ(in_words(report.tools), "memcheck, racecheck, initcheck, synccheck: compute-sanitizer is not installed");
  EXPECT_THAT(progress_.all<CheckingFinalist>(), IsEmpty());
  ASSERT_EQ(progress_.all<FinalistChecked>().size(), 1U);
}

TEST_F(SanitizerCheck, that_is_interrupted_decides_nothing) {
  options_.interrupted = [] { return true; };
  const SanitizerReport report = check();
  EXPECT_TRUE(report.interrupted);
  EXPECT_THAT(report.tools, IsEmpty());
  EXPECT_THAT(progress_.all<FinalistChecked>(), IsEmpty());
}

TEST(CheckForSanitizer, is_the_largest_that_is_no_burden) {
  const auto of = [](std::int64_t elements) {
    Check check;
    check.elements = elements;
    return check;
  };
  EXPECT_EQ(check_for_sanitizer({of(1), of(5000), of(300), of(100'000'000)}).elements, 5000);
  EXPECT_EQ(check_for_sanitizer({of(100'000'000), of(20'000'000)}).elements, 20'000'000);
  EXPECT_EQ(check_for_sanitizer({of(100'000'000), of(7)}).elements, 7);
}

}  // namespace
}  // namespace kagent::loop
