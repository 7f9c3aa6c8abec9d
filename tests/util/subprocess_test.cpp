// SPDX-License-Identifier: Apache-2.0
#include "util/subprocess.h"

#include <array>
#include <csignal>
#include <cstddef>
#include <fstream>
#include <thread>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "util/files.h"
#include "util/process_end.h"

namespace kagent::util {
namespace {

using namespace std::chrono_literals;
using test::ProcessEnd;
using testing::HasSubstr;
using testing::StartsWith;

Command shell(const std::string& script) {
  Command command;
  command.argv = {"sh", "-c", script};
  command.environment = minimal_environment();
  return command;
}

Finished finish(const Command& command) {
  const auto finished = run(command);
  if (!finished) {
    ADD_FAILURE() << finished.error().message;
    return {EndedBy::exit, -1, {}, {}, {}, true};
  }
  return *finished;
}

// The first number that the child prints.
pid_t printed_pid(Child& child) {
  while (child.standard_output().find('\n') == std::string::npos && !child.poll()) child.wait_for_news(-1, 1s);
  return static_cast<pid_t>(std::stol(child.standard_output()));
}

TEST(Subprocess, exit_status_and_both_streams_are_told) {
  const Finished finished = finish(shell("echo out; echo err >&2; exit 7"));
  EXPECT_EQ(finished.ended_by, EndedBy::exit);
  EXPECT_EQ(finished.code, 7);
  EXPECT_FALSE(finished.ok());
  EXPECT_EQ(finished.standard_output, "out\n");
  EXPECT_EQ(finished.standard_error, "err\n");
}

TEST(Subprocess, a_deadly_signal_is_told_as_such) {
  const Finished finished = finish(shell("kill -SEGV $$"));
  EXPECT_EQ(finished.ended_by, EndedBy::signal);
  EXPECT_EQ(finished.code, SIGSEGV);
}

TEST(Subprocess, bytes_pass_unchanged_and_input_of_megabytes_does_not_block) {
  Command command;
  command.argv = {"cat"};
  command.environment = minimal_environment();
  command.limits.output_bytes = 8 << 20;
  for (int i = 0; i < (4 << 20); ++i) command.standard_input += static_cast<char>(i * 31);
  EXPECT_TRUE(finish(command).standard_output == command.standard_input);
}

TEST(Subprocess, without_input_there_is_nothing_to_read) {
  EXPECT_EQ(finish(shell("cat")).standard_output, "");
}

TEST(Subprocess, the_environment_is_the_given_one_and_nothing_else) {
  ::setenv("KAGENT_TEST_SECRET", "key", 1);
  Command command;
  command.argv = {"/usr/bin/env"};
  command.environment = {"A=1"};
  EXPECT_EQ(finish(command).standard_output, "A=1\n");
}

TEST(Subprocess, only_given_descriptors_are_open_and_under_their_numbers) {
  const TemporaryFolder folder;
  const auto open = [&](const char* name, const char* contents) {
    std::ofstream(folder.path() / name) << contents;
    return Descriptor(::open((folder.path() / name).c_str(), O_RDONLY));  // not close-on-exec, on purpose
  };
  const Descriptor first = open("first", "one"), second = open("second", "two"), other = open("other", "secret");
  Command command = shell("cat <&3; cat <&4; ls /proc/self/fd | sort -n | head -n -1 | tr '\\n' ' '");
  // Each at the number of the other: placing one must not lose the other.
  command.descriptors = {{second.get(), 3}, {first.get(), 4}};
  EXPECT_EQ(finish(command).standard_output, "twoone0 1 2 3 4 ");
}

TEST(Subprocess, starts_in_the_given_folder) {
  const TemporaryFolder folder;
  Command command = shell("pwd -P");
  command.working_folder = folder.path();
  EXPECT_EQ(finish(command).standard_output, std::filesystem::canonical(folder.path()).string() + "\n");
}

TEST(Subprocess, a_missing_program_is_an_error_with_its_name_and_the_fix) {
  Command command = shell("");
  command.argv = {"kagent-no-such-program"};
  const auto finished = run(command);
  ASSERT_FALSE(finished);
  EXPECT_THAT(finished.error().message, HasSubstr("kagent-no-such-program"));
  EXPECT_THAT(finished.error().fix, HasSubstr("install"));
}

TEST(Subprocess, a_file_that_is_no_program_is_an_error) {
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "text") << "not a program";
  Command command = shell("");
  command.argv = {(folder.path() / "text").string()};
  const auto finished = run(command);
  ASSERT_FALSE(finished);
  EXPECT_THAT(finished.error().message, HasSubstr("Permission denied"));
}

TEST(Subprocess, a_missing_working_folder_is_an_error_that_names_it) {
  Command command = shell("true");
  command.working_folder = "/nonexistent/folder";
  const auto finished = run(command);
  ASSERT_FALSE(finished);
  EXPECT_THAT(finished.error().fix, HasSubstr("/nonexistent/folder"));
}

TEST(Subprocess, a_cpu_that_does_not_exist_is_an_error) {
  Command command = shell("true");
  command.cpus = {1000};
  const auto finished = run(command);
  ASSERT_FALSE(finished);
  EXPECT_THAT(finished.error().message, HasSubstr("CPU"));
}

TEST(Subprocess, is_bound_to_the_given_cpus) {
  Command command = shell("grep Cpus_allowed_list /proc/self/status");
  command.cpus = {0};
  EXPECT_EQ(finish(command).standard_output, "Cpus_allowed_list:\t0\n");
}

TEST(Subprocess, past_its_time_the_whole_group_is_killed) {
  Command command = shell("sleep 1000 & echo $!; wait");
  command.limits.wall = 300ms;
  auto child = Child::start(command);
  ASSERT_TRUE(child) << child.error().message;
  const ProcessEnd grandchild(printed_pid(*child));
  EXPECT_EQ(child->wait().ended_by, EndedBy::wall_limit);
  EXPECT_TRUE(grandchild.comes());
}

TEST(Subprocess, what_it_left_in_the_background_ends_with_it_and_is_not_waited_for) {
  auto child = Child::start(shell("sleep 1000 & echo $!; read wait < /dev/stdin || exit 3"));
  ASSERT_TRUE(child) << child.error().message;
  const ProcessEnd grandchild(printed_pid(*child));
  EXPECT_EQ(child->wait().code, 3);
  EXPECT_TRUE(grandchild.comes());
}

TEST(Subprocess, endless_output_ends_it_and_no_more_than_the_limit_is_kept) {
  Command command = shell("yes out & yes err >&2");
  command.limits.output_bytes = 100'000;
  const Finished finished = finish(command);
  EXPECT_EQ(finished.ended_by, EndedBy::output_limit);
  EXPECT_EQ(finished.standard_output.size() + finished.standard_error.size(), 100'000u);
}

TEST(Subprocess, memory_of_all_its_processes_counts_against_the_limit) {
  // tail keeps what it may have to print.
  Command command = shell("head -c 4G /dev/zero | tail -c 4G > /dev/null");
  command.limits.memory_bytes = 64 << 20;
  EXPECT_EQ(finish(command).ended_by, EndedBy::memory_limit);
}

TEST(Subprocess, processes_without_end_are_stopped) {
  Command command = shell("while :; do sleep 1000 & done");
  command.limits.tasks = 50;
  EXPECT_EQ(finish(command).ended_by, EndedBy::task_limit);
}

TEST(Subprocess, processor_time_is_bounded) {
  Command command = shell("while :; do :; done");
  command.limits.cpu = 1s;
  const Finished finished = finish(command);
  EXPECT_EQ(finished.ended_by, EndedBy::signal);
  EXPECT_EQ(finished.code, SIGXCPU);
}

TEST(Subprocess, files_grow_no_larger_than_their_limit) {
  const TemporaryFolder folder;
  Command command = shell("echo text > file");
  command.working_folder = folder.path();
  command.limits.file_size_bytes = 0;
  EXPECT_FALSE(finish(command).ok());
  EXPECT_EQ(std::filesystem::file_size(folder.path() / "file"), 0u);
}

TEST(Subprocess, a_system_call_filter_holds_in_the_program) {
  const std::array<sock_filter, 4> program{{
      {BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(seccomp_data, nr)},
      {BPF_JMP | BPF_JEQ | BPF_K, 0, 1, SYS_setsid},
      {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_KILL_PROCESS},
      {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW},
  }};
  Command command = shell("setsid true");
  command.seccomp_program.assign(reinterpret_cast<const char*>(program.data()), sizeof program);
  EXPECT_THAT(finish(command).standard_error, HasSubstr("Bad system call"));
  command.argv = {"true"};
  EXPECT_TRUE(finish(command).ok());
}

TEST(Subprocess, signals_that_this_process_ignores_work_in_the_child) {
  const auto before = ::signal(SIGPIPE, SIG_IGN);
  const Finished finished = finish(shell("grep SigIgn /proc/self/status"));
  ::signal(SIGPIPE, before);
  EXPECT_EQ(finished.standard_output, "SigIgn:\t0000000000000000\n");
}

TEST(Subprocess, ends_are_told_although_this_process_was_started_ignoring_them) {
  ::signal(SIGCHLD, SIG_IGN);
  EXPECT_EQ(finish(shell("exit 5")).code, 5);
  ::signal(SIGCHLD, SIG_DFL);
}

TEST(Subprocess, lives_on_after_the_thread_that_started_it) {
  std::optional<Child> child;
  std::thread([&] {
    auto started = Child::start(shell("read line < /dev/stdin; echo alive; exec sleep 1000"));
    if (started) child = std::move(*started);
  }).join();
  ASSERT_TRUE(child);
  while (child->standard_output() != "alive\n" && !child->poll()) child->wait_for_news(-1, 1s);
  EXPECT_FALSE(child->poll());
  EXPECT_EQ(child->kill().code, SIGKILL);
}

TEST(Subprocess, many_threads_may_run_commands_at_once) {
  std::vector<std::thread> threads;
  std::array<int, 8> right{};
  for (std::size_t t = 0; t < right.size(); ++t)
    threads.emplace_back([&right, t] {
      for (int i = 0; i < 10; ++i) {
        const std::string text = std::to_string(t) + "." + std::to_string(i);
        right[t] += finish(shell("echo " + text)).standard_output == text + "\n";
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(right, testing::Each(10));
}

TEST(Child, is_killed_with_its_group_by_the_destructor) {
  std::optional<ProcessEnd> grandchild;
  {
    auto child = Child::start(shell("sleep 1000 & echo $!; wait"));
    ASSERT_TRUE(child) << child.error().message;
    grandchild.emplace(printed_pid(*child));
  }
  EXPECT_TRUE(grandchild->comes());
}

TEST(Child, dies_when_this_process_is_killed) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  const pid_t driver = ::fork();
  if (driver == 0) {
    auto child = Child::start(shell("exec sleep 1000"));
    const pid_t pid = child ? child->pid() : -1;
    if (::write(ends[1], &pid, sizeof pid) != sizeof pid) ::_exit(1);
    while (true) ::pause();
  }
  pid_t pid = -1;
  ASSERT_EQ(::read(ends[0], &pid, sizeof pid), static_cast<ssize_t>(sizeof pid));
  ASSERT_GT(pid, 0);
  const ProcessEnd end(pid);
  ::kill(driver, SIGKILL);
  ::waitpid(driver, nullptr, 0);
  EXPECT_TRUE(end.comes());
  ::close(ends[0]);
  ::close(ends[1]);
}

}  // namespace
}  // namespace kagent::util
