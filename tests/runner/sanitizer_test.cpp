// SPDX-License-Identifier: Apache-2.0
#include "runner/sanitizer.h"

#include <cstdlib>
#include <fstream>

#include "runner/cuda_session.h"
#include "util/files.h"

namespace kagent::runner {
namespace {

using testing::HasSubstr;
using Verdict = SanitizerResult::Verdict;

// Stands in for compute-sanitizer: runs the program, and reports what the tool's name asks for.
constexpr const char* kFakeSanitizer = R"SH(#!/bin/sh
tool=$2
while [ "${1#--}" != "$1" ]; do shift 2; done
echo "========= COMPUTE-SANITIZER"
"$@" || exit 1
case $tool in
  memcheck) echo "========= ERROR SUMMARY: 0 errors" ;;
  racecheck)
    echo "========= Warning: Race reported between accesses of one warp"
    echo "========= Error: Race reported between Write access and Read access"
    echo "=========     at scale(float *)+0x70 in scale.cu:12"
    echo "========= RACECHECK SUMMARY: 3 hazards displayed (2 errors, 1 warning)" ;;
  initcheck) echo "========= RACECHECK SUMMARY: 1 hazard displayed (0 errors, 1 warning)" ;;
  synccheck) echo "========= Error: The device is not supported" ;;
esac
)SH";

class Sanitizer : public testing::TestWithParam<bool> {
 protected:
  static constexpr bool kSandboxed = true;

  void SetUp() override {
    if (GetParam() && !util::sandbox_state().available) GTEST_SKIP() << util::sandbox_state().description;
    before_ = std::getenv("LD_LIBRARY_PATH") != nullptr ? std::getenv("LD_LIBRARY_PATH") : "";
    ::setenv("LD_LIBRARY_PATH", KAGENT_FAKE_DRIVER, 1);
    how_.sanitizer = folder_.path() / "compute-sanitizer";
    how_.allow_unsandboxed = true;
    std::ofstream(how_.sanitizer) << kFakeSanitizer;
    std::filesystem::permissions(how_.sanitizer, std::filesystem::perms::owner_all);
  }
  void TearDown() override { ::setenv("LD_LIBRARY_PATH", before_.c_str(), 1); }

  std::vector<SanitizerResult> check(int mode, const std::vector<SanitizerTool>& tools) {
    const CudaRunnerOptions runner{.device = {},
                                   .kernel_runner = kernel_runner(),
                                   .sandbox = GetParam() ? util::sandbox_state() : util::SandboxState{}};
    return sanitize({KAGENT_FAKE_CANDIDATE, "", ""}, launcher_parameters(), call_inputs(100, mode), tools, runner,
                    how_);
  }

  const util::TemporaryFolder folder_{"sanitizer"};
  std::string before_;
  SanitizerOptions how_;
};

INSTANTIATE_TEST_SUITE_P(, Sanitizer, testing::Bool(), isolation_name);

TEST_P(Sanitizer, each_tool_says_what_it_found_in_one_call) {
  const auto results = check(kScale, {SanitizerTool::memcheck, SanitizerTool::racecheck, SanitizerTool::synccheck});
  ASSERT_EQ(results.size(), 3U);
  EXPECT_EQ(results[0].verdict, Verdict::clean) << results[0].detail;
  EXPECT_EQ(results[1].verdict, Verdict::errors) << results[1].detail;
  EXPECT_EQ(results[1].error_count, 2);
  EXPECT_EQ(results[1].detail,
            "Error: Race reported between Write access and Read access, at scale(float *)+0x70 in scale.cu:12");
  EXPECT_EQ(results[2].verdict, Verdict::unfinished) << "no summary is not 'passed'";
  EXPECT_THAT(results[2].detail, HasSubstr("not supported"));
}

TEST_P(Sanitizer, a_toolkit_behind_links_is_found_with_what_lies_beside_the_tool) {
  namespace fs = std::filesystem;
  const fs::path toolkit = folder_.path() / "cuda-13.0";
  fs::create_directories(toolkit / "compute-sanitizer");
  fs::create_directories(toolkit / "bin");
  fs::create_directory_symlink(toolkit, folder_.path() / "cuda");
  std::ofstream(toolkit / "compute-sanitizer/beside") << "here";
  std::ofstream(toolkit / "compute-sanitizer/compute-sanitizer")
      << "#!/bin/sh\n[ \"$(cat \"${0%/*}/beside\")\" = here ] || exit 1\n"
      << std::string(kFakeSanitizer).substr(std::string("#!/bin/sh\n").size());
  std::ofstream(toolkit / "bin/script")
      << "#!/bin/sh\nexec \"${0%/*}/../compute-sanitizer/compute-sanitizer\" \"$@\"\n";
  for (const char* file : {"compute-sanitizer/compute-sanitizer", "bin/script"})
    fs::permissions(toolkit / file, fs::perms::owner_all);
  fs::create_symlink("../compute-sanitizer/compute-sanitizer", toolkit / "bin/compute-sanitizer");
  for (const char* name : {"bin/compute-sanitizer", "bin/script", "compute-sanitizer/compute-sanitizer"}) {
    how_.sanitizer = folder_.path() / "cuda" / name;
    const auto results = check(kScale, {SanitizerTool::memcheck});
    EXPECT_EQ(results[0].verdict, Verdict::clean) << name << ": " << results[0].detail;
  }
}

TEST_P(Sanitizer, warnings_alone_are_no_errors) {
  const auto results = check(kScale, {SanitizerTool::initcheck});
  EXPECT_EQ(results[0].verdict, Verdict::clean) << results[0].detail;
}

TEST_P(Sanitizer, a_call_that_does_not_end_well_is_no_pass) {
  const auto results = check(kCrashes, {SanitizerTool::memcheck});
  ASSERT_EQ(results.size(), 1U);
  EXPECT_EQ(results[0].verdict, Verdict::unfinished);
  EXPECT_THAT(results[0].detail, HasSubstr("SIGSEGV"));
}

// Once the call loops, waits until the driver hears it out, and then has something to say.
constexpr const char* kTellsWhenHeardOut = R"SH(#!/bin/sh
while [ "${1#--}" != "$1" ]; do shift 2; done
"$@" 2>&1 | { read -r loops; head -c 1 <&3; echo "========= ERROR SUMMARY: 1 error"; kill 0; }
)SH";

TEST_P(Sanitizer, a_call_that_never_ends_is_killed_and_not_heard_out) {
  std::ofstream(how_.sanitizer) << kTellsWhenHeardOut;
  how_.limit = std::chrono::seconds(2);
  const auto results = check(kLoop, {SanitizerTool::memcheck});
  EXPECT_EQ(results[0].verdict, Verdict::unfinished);
  EXPECT_THAT(results[0].detail, HasSubstr("no answer within 2 s"));
}

TEST_P(Sanitizer, after_an_error_of_the_device_the_tool_is_heard_out) {
  std::ofstream(how_.sanitizer) << "#!/bin/sh\nwhile [ \"${1#--}\" != \"$1\" ]; do shift 2; done\n\"$@\"\n"
                                   "echo '========= ERROR SUMMARY: 1 error'\n";
  const auto results = check(kIllegalAccess, {SanitizerTool::memcheck});
  EXPECT_EQ(results[0].verdict, Verdict::errors) << results[0].detail;
}

TEST_P(Sanitizer, a_tool_that_is_not_installed_says_nothing_about_the_code) {
  how_.sanitizer.clear();
  const auto results = check(kScale, {SanitizerTool::initcheck});
  ASSERT_EQ(results.size(), 1U);
  EXPECT_EQ(results[0].verdict, Verdict::unfinished);
  EXPECT_THAT(results[0].detail, HasSubstr("not installed"));
}

}  // namespace
}  // namespace kagent::runner
