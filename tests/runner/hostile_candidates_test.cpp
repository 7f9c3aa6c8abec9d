// SPDX-License-Identifier: Apache-2.0
#include <csignal>
#include <ctime>
#include <filesystem>
#include <fstream>

#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "runner/call_filter.h"
#include "runner/candidate_session.h"
#include "runner/candidates/hostile.h"
#include "util/files.h"
#include "util/process_end.h"

namespace kagent::runner {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

class HostileCandidate : public CandidateSession {
 protected:
  // Elements of x and y, so that y ends well within a page.
  static constexpr int kCount = 100;

  std::unique_ptr<Session> prepared(int mode, const CallLayout& layout = {}) {
    auto session = start(candidate("hostile"), hostile_parameters());
    EXPECT_THAT(done(session->prepare(0, call_inputs(kCount, mode), layout)), IsOk());
    return session;
  }
  RunResult call(int mode) { return done(prepared(mode)->call(0)); }
  // y[0] after a call that must succeed.
  double answer(int mode) {
    const auto session = prepared(mode);
    EXPECT_THAT(done(session->call(0)), IsOk());
    const auto images = session->read(0);
    return image(*images, "y").contents.at(0);
  }
};

TEST_P(HostileCandidate, a_crash_names_signal_and_address) {
  EXPECT_THAT(call(kWriteNull), EndsWith(Outcome::crashed, "SIGSEGV at 0x0"));
  EXPECT_THAT(call(kDivideByZero), EndsWith(Outcome::crashed, "SIGFPE"));
}

TEST_P(HostileCandidate, an_overflowing_stack_is_a_crash) {
  EXPECT_THAT(call(kRecurse), EndsWith(Outcome::crashed, "SIGSEGV"));
}

TEST_P(HostileCandidate, an_uncaught_exception_is_a_crash_with_its_message) {
  EXPECT_THAT(call(kThrow), EndsWith(Outcome::crashed, "no such tile"));
}

TEST_P(HostileCandidate, an_exit_is_a_crash_whatever_its_status) {
  EXPECT_THAT(call(kExitZero), EndsWith(Outcome::crashed, "exited with 0 in the middle of a call"));
  EXPECT_THAT(call(kExitAtOnce), EndsWith(Outcome::crashed, "exited with 3 in the middle of a call"));
}

TEST_P(HostileCandidate, a_kill_from_outside_is_put_down_to_memory) {
  EXPECT_THAT(call(kKillItself), EndsWith(Outcome::memory_exceeded, "killed by the kernel"));
}

TEST_P(HostileCandidate, a_loop_without_end_is_timed_out) {
  limits_.step = 200ms;
  EXPECT_THAT(call(kLoop), EndsWith(Outcome::timed_out, "no answer within 0.2 s"));
}

TEST_P(HostileCandidate, allocating_without_end_is_stopped) {
  limits_.memory_bytes = 200 << 20;
  EXPECT_THAT(call(kAllocate), EndsWith(Outcome::memory_exceeded, "200 MiB"));
  EXPECT_THAT(call(kAllocateAtOnce), EndsWith(Outcome::memory_exceeded, "std::bad_alloc"));
  EXPECT_THAT(call(kAllocateTables), EndsWith(Outcome::memory_exceeded, ""));
}

TEST_P(HostileCandidate, threads_without_end_are_stopped) {
  EXPECT_THAT(call(kStartThreads), EndsWith(Outcome::policy_violation, "threads"));
}

TEST_P(HostileCandidate, printing_without_end_is_stopped) {
  EXPECT_THAT(call(kPrint), EndsWith(Outcome::output_exceeded, "1 MiB"));
  EXPECT_THAT(call(kPrintQuietly), EndsWith(Outcome::output_exceeded, "1 MiB"));
}

TEST_P(HostileCandidate, processes_are_refused) {
  EXPECT_THAT(call(kFork), EndsWith(Outcome::policy_violation, "called clone()"));
  EXPECT_THAT(call(kForkInThread), EndsWith(Outcome::policy_violation, "called clone()"));
  EXPECT_THAT(call(kExec), EndsWith(Outcome::policy_violation, "called execve()"));
}

TEST_P(HostileCandidate, writing_files_is_refused) {
  EXPECT_THAT(call(kWriteFile), EndsWith(Outcome::policy_violation, "called openat()"));
  EXPECT_THAT(call(kTruncateFile), EndsWith(Outcome::policy_violation, "called openat()"));
  EXPECT_FALSE(fs::exists("/tmp/kagent-test-written"));
}

TEST_P(HostileCandidate, looking_at_files_is_refused) {
  EXPECT_THAT(call(kReadFile), EndsWith(Outcome::policy_violation, "called openat()"));
  EXPECT_THAT(call(kOpenMissingFile), EndsWith(Outcome::policy_violation, "called openat()"));
  EXPECT_THAT(call(kStatFile), EndsWith(Outcome::policy_violation, "called newfstatat()"));
  EXPECT_THAT(call(kAskForFile), EndsWith(Outcome::policy_violation, "called "));
  EXPECT_EQ(answer(kStatByStream), -EACCES);
  for (const long number : {SYS_openat2, SYS_statx, SYS_faccessat, SYS_faccessat2, SYS_readlinkat, SYS_getdents64,
                            SYS_statfs, SYS_getcwd, SYS_chdir, SYS_getxattr, SYS_inotify_init1})
    EXPECT_THAT(call(kSystemCall + static_cast<int>(number)),
                EndsWith(Outcome::policy_violation, "called " + system_call_name(static_cast<int>(number)) + "()"));
}

TEST_P(HostileCandidate, new_code_is_refused) {
  EXPECT_THAT(call(kMapCode), EndsWith(Outcome::policy_violation, "called mmap()"));
  EXPECT_THAT(call(kRewriteCode), EndsWith(Outcome::policy_violation, "called mprotect()"));
  EXPECT_THAT(call(kRewriteCodeByKey), EndsWith(Outcome::policy_violation, "called pkey_mprotect()"));
}

TEST_P(HostileCandidate, sockets_are_refused) {
  EXPECT_THAT(call(kSocket), EndsWith(Outcome::policy_violation, "called socket()"));
}

TEST_P(HostileCandidate, memory_that_no_limit_counts_is_refused) {
  EXPECT_THAT(call(kSharedMemory), EndsWith(Outcome::policy_violation, "called mmap()"));
}

TEST_P(HostileCandidate, signals_to_others_are_refused) {
  EXPECT_THAT(call(kSignalParent), EndsWith(Outcome::policy_violation, "called tgkill()"));
}

TEST_P(HostileCandidate, its_bounds_cannot_be_moved) {
  EXPECT_THAT(call(kRaiseLimit), EndsWith(Outcome::policy_violation, "called prlimit64()"));
  EXPECT_THAT(call(kOutliveParent), EndsWith(Outcome::policy_violation, "called prctl()"));
  EXPECT_EQ(answer(kBind), -EPERM);
}

TEST_P(HostileCandidate, a_blocked_handled_or_ignored_signal_does_not_help) {
  EXPECT_THAT(call(kBlockSignal), EndsWith(Outcome::policy_violation, "forbidden system call"));
  EXPECT_THAT(call(kHandleSignal), EndsWith(Outcome::policy_violation, "called rt_sigaction()"));
  EXPECT_THAT(call(kIgnoreSignal), EndsWith(Outcome::policy_violation, "called rt_sigaction()"));
}

TEST_P(HostileCandidate, calls_that_a_kernel_has_no_business_with_are_refused) {
  for (const long number : {SYS_ptrace,
                            SYS_process_vm_readv,
                            SYS_process_vm_writev,
                            SYS_bpf,
                            SYS_perf_event_open,
                            SYS_io_uring_setup,
                            SYS_userfaultfd,
                            SYS_keyctl,
                            SYS_mount,
                            SYS_kexec_load,
                            SYS_init_module,
                            SYS_unshare,
                            SYS_setns,
                            SYS_kill,
                            SYS_unlinkat,
                            SYS_renameat2,
                            SYS_mkdirat,
                            SYS_fchmodat,
                            SYS_linkat,
                            SYS_symlinkat,
                            SYS_truncate,
                            SYS_memfd_create,
                            SYS_shmget,
                            SYS_setsid,
                            SYS_seccomp,
                            SYS_pidfd_open,
                            SYS_setpriority,
                            SYS_connect,
                            SYS_socketpair,
                            SYS_personality})
    EXPECT_THAT(call(kSystemCall + static_cast<int>(number)),
                EndsWith(Outcome::policy_violation, "called " + system_call_name(static_cast<int>(number)) + "()"));
}

TEST_P(HostileCandidate, the_channel_is_not_its_own) {
  limits_.step = 300ms;
  EXPECT_THAT(call(kCloseChannel), EndsWith(Outcome::policy_violation, "closed the runner's channel"));
  EXPECT_THAT(call(kWriteChannel), EndsWith(Outcome::policy_violation, "wrote to the runner's channel"));
  EXPECT_THAT(call(kForgeReply), EndsWith(Outcome::policy_violation, "wrote to the runner's channel"));
  EXPECT_THAT(call(kReadChannel), EndsWith(Outcome::timed_out, ""));
  EXPECT_THAT(call(kShrinkExchange), EndsWith(Outcome::policy_violation, "called ftruncate()"));
}

TEST_P(HostileCandidate, writes_beside_a_buffer_show_in_its_guards) {
  for (const auto& [mode, offset] : {std::pair(kWriteBehind, 4 * kCount), std::pair(kWriteBefore, -4)}) {
    const auto session = prepared(mode);
    ASSERT_THAT(done(session->call(0)), IsOk());
    const auto images = session->read(0);
    ASSERT_TRUE(images);
    EXPECT_FALSE(image(*images, "y").guards_intact);
    // A byte of what was written may happen to be the guard's own.
    EXPECT_THAT(image(*images, "y").first_damage, testing::AllOf(testing::Ge(offset), testing::Lt(offset + 4)));
    EXPECT_TRUE(image(*images, "x").guards_intact);
  }
}

TEST_P(HostileCandidate, at_the_end_of_a_block_one_element_too_far_is_a_crash) {
  for (const Mode mode : {kWriteBehind, kReadBehind})
    EXPECT_THAT(done(prepared(mode, {.placement = Placement::end_of_block})->call(0)),
                EndsWith(Outcome::crashed, "SIGSEGV"));
}

TEST_P(HostileCandidate, a_changed_input_is_seen) {
  const auto session = prepared(kChangeInput);
  ASSERT_THAT(done(session->call(0)), IsOk());
  EXPECT_EQ(image(*session->read(0), "x").contents.at(kCount - 1), -1);
}

TEST_P(HostileCandidate, an_input_that_is_changed_and_restored_is_seen_at_the_end_of_a_block) {
  const CallLayout layout{.placement = Placement::end_of_block};
  for (const Mode mode : {kRestoreInput, kChangeInput})
    EXPECT_THAT(done(prepared(mode, layout)->call(0)), EndsWith(Outcome::crashed, "wrote to an input"));
  const auto session = prepared(kScale, layout);
  for (const float first : {3.0F, 4.0F}) {
    ASSERT_THAT(done(session->call(0)), IsOk());
    ASSERT_THAT(done(session->refill(0, call_inputs(kCount, kScale, first), 0, nullptr)), IsOk());
    ASSERT_THAT(done(session->call(0)), IsOk());
    EXPECT_EQ(image(*session->read(0), "y").contents.at(1), 2 * (first + 1));
  }
}

TEST_P(HostileCandidate, what_belongs_to_its_caller_stays_as_it_was) {
  EXPECT_THAT(call(kBlockSignalsOnly), EndsWith(Outcome::policy_violation, "changed its caller's signal mask"));
  EXPECT_THAT(call(kRoundUp), EndsWith(Outcome::policy_violation, "changed its caller's floating-point environment"));
#if defined(__x86_64__)
  for (const Mode mode : {kFlushDenormals, kRoundX87})
    EXPECT_THAT(call(mode), EndsWith(Outcome::policy_violation, "changed its caller's floating-point environment"));
  for (const Mode mode : {kChangeRegister, kChangeFramePointer, kSetDirection})
    EXPECT_THAT(call(mode), EndsWith(Outcome::policy_violation, "changed its caller's registers"));
#endif
}

TEST_P(HostileCandidate, writing_after_the_call_returned_is_noticed) {
  const auto session = prepared(kWriteLater);
  // Until its thread gets a processor in time.
  std::vector<BufferImage> images;
  do {
    ASSERT_THAT(done(session->call(0)), IsOk());
    images = *session->read(0);
  } while (!images.empty());
  EXPECT_THAT(done(session->call(0)), EndsWith(Outcome::policy_violation, "after the call had returned"));
}

bool is_stopped(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  const std::string stat((std::istreambuf_iterator<char>(file)), {});
  const auto name_end = stat.rfind(')');
  return name_end != std::string::npos && stat.compare(name_end, 3, ") T") == 0;
}

TEST_P(HostileCandidate, threads_that_work_on_between_calls_are_stopped) {
  const util::TemporaryFolder folder;
  const Binary binary{folder.path() / "kagent-test-lingering", "", ""};
  fs::copy_file(candidate("hostile").executable, binary.executable);
  const auto session = start(binary, hostile_parameters());
  ASSERT_THAT(done(session->prepare(0, call_inputs(kCount, kWriteLater), {})), IsOk());
  ASSERT_THAT(done(session->call(0)), IsOk());
  do {
    ASSERT_THAT(done(session->prepare(1, call_inputs(1, kScale), {})), IsOk());
  } while (std::ranges::none_of(test::processes_with(binary.executable), is_stopped));
  ASSERT_THAT(done(session->call(1)), IsOk());
}

TEST_P(HostileCandidate, a_crash_between_calls_is_told_by_a_later_one) {
  const auto session = prepared(kCrashLater);
  RunResult result = done(session->call(0));
  while (result.outcome == Outcome::ok) result = done(session->prepare(1, call_inputs(1, kScale), {}));
  EXPECT_THAT(result, EndsWith(Outcome::crashed, "SIGSEGV"));
}

TEST_P(HostileCandidate, an_end_is_told_once_and_then_there_is_nothing_to_run) {
  const auto session = prepared(kWriteNull);
  EXPECT_THAT(done(session->call(0)), EndsWith(Outcome::crashed, ""));
  EXPECT_THAT(done(session->call(0)), EndsWith(Outcome::launch_failed, "SIGSEGV"));
  EXPECT_TRUE(session->read(0)->empty());
}

TEST_P(HostileCandidate, static_initialisers_are_bound_as_well) {
  const auto first_step = [&](const char* act) {
    const auto session = start(candidate("initialiser_" + std::string(act)), {});
    return done(session->prepare(0, call_inputs(1, 0), {}));
  };
  EXPECT_THAT(first_step("crashes"), EndsWith(Outcome::crashed, "SIGILL"));
  EXPECT_THAT(first_step("exits"), EndsWith(Outcome::crashed, "exited with 0 before its first call"));
  EXPECT_THAT(first_step("connects"), EndsWith(Outcome::policy_violation, "called socket()"));
  EXPECT_THAT(first_step("reads"), EndsWith(Outcome::policy_violation, "called openat()"));
  EXPECT_THAT(first_step("connects_early"), EndsWith(Outcome::policy_violation, "SIGSYS"));
  limits_.start = 300ms;
  EXPECT_THAT(first_step("loops"), EndsWith(Outcome::timed_out, "no answer within 0.3 s"));
}

TEST_P(HostileCandidate, false_times_are_refused) {
  const util::TemporaryFolder folder;
  const auto told = [&](const char* lie) {
    const Binary binary{folder.path() / ("liar_" + std::string(lie)), "", ""};
    fs::copy_file(candidate("liar").executable, binary.executable);
    const auto session = start(binary, {});
    EXPECT_THAT(done(session->prepare(0, call_inputs(1, 0), {})), IsOk());
    RunResult result;
    for (int i = 0; i < 32 && result.outcome == Outcome::ok; ++i) result = done(session->call(0));
    return result;
  };
  EXPECT_THAT(told("honest"), IsOk());
  for (const char* lie : {"early", "late", "long", "backwards", "endless", "hides"})
    EXPECT_THAT(told(lie), EndsWith(Outcome::policy_violation, "clock")) << lie;
  EXPECT_THAT(told("twice"), EndsWith(Outcome::policy_violation, "wrote to the runner's channel"));
}

// Whether the process has used 50 ms of processor time, far beyond what starting takes.
bool is_looping(pid_t pid) {
  clockid_t clock{};
  timespec time{};
  return ::clock_getcpuclockid(pid, &clock) == 0 && ::clock_gettime(clock, &time) == 0 &&
         (time.tv_sec > 0 || time.tv_nsec > 50'000'000);
}

TEST_P(HostileCandidate, none_is_left_when_the_driver_is_killed) {
  const util::TemporaryFolder folder;
  const Binary binary{folder.path() / "kagent-test-candidate", "", ""};
  fs::copy_file(candidate("hostile").executable, binary.executable);
  const pid_t driver = ::fork();
  if (driver == 0) {
    limits_.step = 100'000ms;
    auto session = runner_->start(binary, hostile_parameters(), limits_);
    if (!session || !(*session)->prepare(0, call_inputs(1, kLoop), {})) ::_exit(1);
    ::kill(::getpid(), SIGSTOP);
    static_cast<void>((*session)->call(0));
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(driver, &status, WUNTRACED), driver);
  ASSERT_TRUE(WIFSTOPPED(status));
  ::kill(driver, SIGCONT);
  const auto left = test::processes_with(binary.executable);
  ASSERT_FALSE(left.empty());
  while (std::ranges::none_of(left, is_looping)) ::sched_yield();
  ::kill(driver, SIGKILL);
  ::waitpid(driver, nullptr, 0);
  for (const pid_t pid : left) EXPECT_TRUE(test::ProcessEnd(pid).comes());
  EXPECT_TRUE(test::processes_with(binary.executable).empty());
}

INSTANTIATE_TEST_SUITE_P(, HostileCandidate, testing::Bool(), isolation_name);

}  // namespace
}  // namespace kagent::runner
