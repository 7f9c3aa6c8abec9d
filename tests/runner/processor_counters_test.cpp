// SPDX-License-Identifier: Apache-2.0
#include "runner/processor_counters.h"

#include <cerrno>
#include <thread>

#include <sys/mman.h>

#include "runner/candidate_session.h"

namespace kagent::runner {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Key;

// As in candidates/plain.cpp.
enum Mode : int { kScale, kThreads = 2, kBusy };
// As in candidates/hostile.h.
constexpr int kWriteNull = 1;

const std::vector<std::string> kSoftware{"task-clock", "page-faults"};

// Where even the kernel's own counters are refused there is nothing to read.
bool can_count() {
  return ProcessorCounters::open(::getpid(), kSoftware).problem().empty();
}

// Each page of fresh memory is a fault of its own.
void touch_pages(std::size_t pages) {
  const std::size_t page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  void* const memory = ::mmap(nullptr, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  ASSERT_EQ(::madvise(memory, pages * page, MADV_NOHUGEPAGE), 0);
  for (std::size_t i = 0; i < pages; ++i) static_cast<volatile char*>(memory)[i * page] = 1;
  ::munmap(memory, pages * page);
}

TEST(ProcessorCounters, count_what_a_process_does_in_threads_that_it_starts_later_too) {
  if (!can_count()) GTEST_SKIP() << ProcessorCounters::open(::getpid(), kSoftware).problem();
  const ProcessorCounters counters = ProcessorCounters::open(::getpid(), kSoftware);
  const auto before = counters.read();
  touch_pages(500);
  const auto between = counters.read();
  EXPECT_GE(between.at("page-faults") - before.at("page-faults"), 500);
  std::thread([] { touch_pages(700); }).join();
  const auto after = counters.read();
  EXPECT_GE(after.at("page-faults") - between.at("page-faults"), 700);
  EXPECT_GT(after.at("task-clock"), before.at("task-clock"));
}

TEST(ProcessorCounters, that_are_missing_have_a_reason_and_those_that_are_there_have_values) {
  if (!can_count()) GTEST_SKIP() << ProcessorCounters::open(::getpid(), kSoftware).problem();
  const ProcessorCounters counters = ProcessorCounters::open(::getpid(), ProcessorCounters::names());
  const auto values = counters.read();
  EXPECT_THAT(values, Contains(Key("task-clock")));
  EXPECT_EQ(counters.problem(), ProcessorCounters::obstacle());
  EXPECT_EQ(values.contains("instructions"), counters.problem().empty());
}

TEST(ProcessorCounters, of_a_process_that_is_gone_say_so) {
  const ProcessorCounters counters = ProcessorCounters::open(0x7FFF'FFF0, kSoftware);
  EXPECT_THAT(counters.read(), IsEmpty());
  EXPECT_THAT(counters.problem(), HasSubstr("No such process"));
}

TEST(ProcessorCounters, that_share_a_register_stand_for_the_whole_time) {
  EXPECT_EQ(scaled_count(100, 1000, 1000), 100);
  EXPECT_EQ(scaled_count(100, 1000, 250), 400);
  EXPECT_LT(scaled_count(0, 1000, 0), 0) << "never had its turn";
  EXPECT_EQ(scaled_count(0, 0, 0), 0) << "nothing ran yet";
}

TEST(ProcessorCounters, that_are_refused_tell_why_and_the_fix) {
  EXPECT_THAT(counters_problem(EACCES, "4\n"), HasSubstr("perf_event_paranoid is 4"));
  EXPECT_THAT(counters_problem(EPERM, "3"), HasSubstr("sysctl kernel.perf_event_paranoid=2"));
  EXPECT_THAT(counters_problem(EPERM, "2\n"), HasSubstr("container"));
  EXPECT_THAT(counters_problem(EACCES, ""), HasSubstr("container"));
  EXPECT_THAT(counters_problem(ENOENT, "2\n"), HasSubstr("virtual machines"));
  EXPECT_THAT(counters_problem(ENOSYS, ""), HasSubstr("perf_event_open"));
  EXPECT_THAT(counters_problem(EMFILE, ""), HasSubstr("Too many open files"));
}

class CountedSession : public CandidateSession {
 protected:
  void SetUp() override {
    CandidateSession::SetUp();
    if (!can_count()) GTEST_SKIP() << ProcessorCounters::open(::getpid(), kSoftware).problem();
    limits_.reads_counters = true;
  }
};

INSTANTIATE_TEST_SUITE_P(, CountedSession, testing::Bool(), isolation_name);

TEST_P(CountedSession, gives_the_counters_of_a_call_of_code_that_has_no_privilege) {
  const auto session = start(candidate("plain"), plain_parameters());
  ASSERT_THAT(done(session->prepare(0, call_inputs(3'000'000, kBusy), {})), IsOk());
  const auto counters = session->count(0, ProcessorCounters::names());
  ASSERT_TRUE(counters) << counters.error().message;
  ASSERT_THAT(counters->result, IsOk());
  ASSERT_EQ(counters->kernels.size(), 1U) << counters->problem;
  EXPECT_EQ(counters->problem, ProcessorCounters::obstacle());
  // Three million rounds take a processor more than a tenth of a nanosecond each.
  EXPECT_GT(counters->kernels[0].at("task-clock"), 300'000);
  EXPECT_EQ(counters->kernels[0].contains("instructions"), counters->problem.empty());
}

TEST_P(CountedSession, counts_the_threads_of_a_call) {
  const auto session = start(candidate("plain"), plain_parameters());
  ASSERT_THAT(done(session->prepare(0, call_inputs(1000, kThreads), {})), IsOk());
  const auto counters = session->count(0, ProcessorCounters::names());
  ASSERT_TRUE(counters) << counters.error().message;
  ASSERT_THAT(counters->result, IsOk());
}

TEST_P(CountedSession, is_only_counted_where_that_was_asked_for) {
  limits_.reads_counters = false;
  const auto session = start(candidate("plain"), plain_parameters());
  ASSERT_THAT(done(session->prepare(0, call_inputs(1000, kScale), {})), IsOk());
  const auto counters = session->count(0, ProcessorCounters::names());
  ASSERT_TRUE(counters);
  EXPECT_THAT(counters->kernels, IsEmpty());
  EXPECT_THAT(counters->problem, HasSubstr("no hardware counters"));
  EXPECT_THAT(done(session->call(0)), IsOk());
}

TEST_P(CountedSession, of_a_call_that_dies_says_how) {
  const auto session = start(candidate("hostile"), hostile_parameters());
  ASSERT_THAT(done(session->prepare(0, call_inputs(16, kWriteNull), {})), IsOk());
  const auto counters = session->count(0, ProcessorCounters::names());
  ASSERT_TRUE(counters) << counters.error().message;
  EXPECT_EQ(counters->result.outcome, Outcome::crashed);
  EXPECT_THAT(counters->problem, HasSubstr("SIGSEGV"));
}

}  // namespace
}  // namespace kagent::runner
