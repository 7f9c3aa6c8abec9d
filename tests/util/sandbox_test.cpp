// SPDX-License-Identifier: Apache-2.0
#include "util/sandbox.h"

#include <array>
#include <csignal>
#include <fstream>
#include <set>

#include <dirent.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include "util/files.h"
#include "util/process_end.h"

namespace kagent::util {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::StartsWith;

Command shell(const std::string& script) {
  Command command;
  command.argv = {"/bin/sh", "-c", script};
  command.environment = minimal_environment();
  return command;
}

// bubblewrap needs user namespaces, which containers and some distributions forbid: there is then nothing to test.
class Sandbox : public testing::Test {
 protected:
  void SetUp() override {
    if (!sandbox_state().available) GTEST_SKIP() << sandbox_state().description;
    for (const char* name : {"shown", "shown/hidden", "shown/hidden/work"}) fs::create_directory(folder_.path() / name);
    for (const char* name : {"secret", "shown/file", "shown/hidden/golden", "shown/hidden/work/own"})
      std::ofstream(folder_.path() / name) << name << '\n';
  }

  Finished run_inside(const std::string& script, const SandboxView& view = {}) {
    const auto finished = run(sandboxed(shell(script), view));
    EXPECT_TRUE(finished) << finished.error().message;
    return *finished;
  }
  // What `cat` prints of a file of the folder, seen from inside.
  std::string seen(const std::string& name, const SandboxView& view) {
    return run_inside("cat " + (folder_.path() / name).string(), view).standard_output;
  }
  fs::path path(const char* name) const { return folder_.path() / name; }

  TemporaryFolder folder_;
};

TEST_F(Sandbox, describes_itself) {
  EXPECT_THAT(sandbox_state().description, StartsWith("bubblewrap "));
}

TEST_F(Sandbox, shows_a_folder_under_another_name) {
  const SandboxView view{{}, {}, {path("shown/hidden")}, {{path("shown/hidden/work"), "/elsewhere"}}};
  EXPECT_EQ(
      run_inside("cat /elsewhere/own; echo new > /elsewhere/made; ls " + path("shown").string(), view).standard_output,
      "shown/hidden/work/own\nhidden\n");
  EXPECT_TRUE(fs::exists(path("shown/hidden/work/made")));
}

TEST_F(Sandbox, shows_devices_over_its_own) {
  const fs::path marker = "/dev/shm/kagent-" + folder_.path().filename().string();
  if (!(std::ofstream(marker) << "here")) GTEST_SKIP() << "/dev/shm cannot be written";
  const std::string script = "cat " + marker.string() + "; ls -d /dev/null";
  EXPECT_EQ(run_inside(script).standard_output, "/dev/null\n");
  SandboxView view;
  view.devices = {"/dev/shm", "/dev/absent"};
  EXPECT_EQ(run_inside(script, view).standard_output, "here/dev/null\n");
  fs::remove(marker);
}

TEST_F(Sandbox, passes_streams_and_exit_status) {
  const Finished finished = run_inside("echo out; echo err >&2; exit 9");
  EXPECT_EQ(finished.standard_output, "out\n");
  EXPECT_EQ(finished.standard_error, "err\n");
  EXPECT_EQ(finished.code, 9);
}

TEST_F(Sandbox, tells_a_deadly_signal_as_such) {
  const Finished finished = run_inside("kill -SEGV $$");
  EXPECT_EQ(finished.ended_by, EndedBy::signal);
  EXPECT_EQ(finished.code, SIGSEGV);
}

// nvcc ends with 255 where ptxas refuses.
TEST_F(Sandbox, an_exit_status_beyond_the_last_signal_is_none) {
  const Finished finished = run_inside("exit 255");
  EXPECT_EQ(finished.ended_by, EndedBy::exit);
  EXPECT_EQ(finished.code, 255);
}

TEST_F(Sandbox, shows_only_what_the_view_names) {
  const SandboxView view{.read_only = {path("shown")}, .read_write = {}, .covered = {}};
  EXPECT_EQ(seen("shown/file", view), "shown/file\n");
  EXPECT_EQ(seen("secret", view), "");
}

TEST_F(Sandbox, what_is_shown_to_read_cannot_be_written) {
  const SandboxView view{.read_only = {path("shown")}, .read_write = {}, .covered = {}};
  EXPECT_FALSE(run_inside("echo changed > " + path("shown/file").string(), view).ok());
  EXPECT_FALSE(run_inside("echo new > /usr/kagent-test").ok());
  EXPECT_EQ(read_file(path("shown/file")).value_or(""), "shown/file\n");
}

TEST_F(Sandbox, a_writable_folder_can_be_written) {
  EXPECT_TRUE(run_inside("echo new > " + path("shown/made").string(),
                         {.read_only = {}, .read_write = {path("shown")}, .covered = {}})
                  .ok());
  EXPECT_EQ(read_file(path("shown/made")).value_or(""), "new\n");
}

TEST_F(Sandbox, covers_hide_folders_and_files_in_what_is_shown) {
  const SandboxView view{
      .read_only = {path("shown")}, .read_write = {}, .covered = {path("shown/hidden"), path("shown/file")}};
  EXPECT_EQ(seen("shown/hidden/golden", view), "");
  EXPECT_EQ(seen("shown/file", view), "");
  EXPECT_FALSE(run_inside("echo x > " + path("shown/hidden/new").string(), view).ok());
}

TEST_F(Sandbox, a_cover_holds_whatever_name_leads_to_it) {
  fs::create_directory_symlink(path("shown/hidden"), path("shown/link"));
  const SandboxView view{.read_only = {path("shown")}, .read_write = {}, .covered = {path("shown/link")}};
  EXPECT_EQ(seen("shown/link/golden", view), "");
  EXPECT_EQ(seen("shown/hidden/golden", view), "");
}

TEST_F(Sandbox, what_lies_behind_a_link_that_is_shown_is_shown_too) {
  fs::create_directories(path("other/deep"));
  std::ofstream(path("other/deep/file")) << "deep\n";
  fs::create_directory_symlink(path("other"), path("shown/away"));
  fs::create_directory_symlink(path("shown/hidden"), path("shown/link"));
  for (const fs::path& shown : {path("shown"), path("shown") / ""}) {
    const SandboxView view{
        .read_only = {shown, path("shown/link/work"), path("shown/away/deep")}, .read_write = {}, .covered = {}};
    EXPECT_EQ(seen("shown/link/work/own", view), "shown/hidden/work/own\n");
    EXPECT_EQ(seen("shown/away/deep/file", view), "deep\n");
  }
}

TEST_F(Sandbox, a_longer_path_inside_of_a_cover_is_shown) {
  const SandboxView view{
      .read_only = {path("shown")}, .read_write = {path("shown/hidden/work")}, .covered = {path("shown/hidden")}};
  EXPECT_EQ(seen("shown/hidden/golden", view), "");
  EXPECT_EQ(seen("shown/hidden/work/own", view), "shown/hidden/work/own\n");
  EXPECT_TRUE(run_inside("echo x > " + path("shown/hidden/work/new").string(), view).ok());
}

TEST_F(Sandbox, missing_paths_of_the_view_are_skipped) {
  EXPECT_TRUE(
      run_inside("true",
                 {.read_only = {"/nonexistent/a"}, .read_write = {"/nonexistent/b"}, .covered = {"/nonexistent/c"}})
          .ok());
}

TEST_F(Sandbox, has_no_home_and_no_network_and_no_other_process) {
  EXPECT_EQ(run_inside("ls -A /home /root /work 2>/dev/null").standard_output, "");
  EXPECT_EQ(run_inside("tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' '").standard_output, "lo\n");
  EXPECT_EQ(run_inside("kill -0 " + std::to_string(::getpid()) + " 2>/dev/null && echo seen").standard_output, "");
}

TEST_F(Sandbox, temporary_files_are_private) {
  const Finished finished = run_inside("echo $TMPDIR; mktemp; ls -A /tmp | wc -l");
  EXPECT_THAT(finished.standard_output, StartsWith("/tmp\n/tmp/"));
  EXPECT_THAT(finished.standard_output, testing::EndsWith("\n1\n"));
}

TEST_F(Sandbox, a_limit_ends_all_of_its_processes) {
  Command command = shell("sleep 1000 & sleep 1001 & wait");
  command.limits.tasks = 4;  // bubblewrap's two, the shell and one sleep
  const auto finished = run(sandboxed(command, {}));
  ASSERT_TRUE(finished);
  EXPECT_EQ(finished->ended_by, EndedBy::task_limit);
}

TEST(SandboxProbe, without_bubblewrap_the_state_says_so) {
  const SandboxState state = probe_sandbox({});
  EXPECT_FALSE(state.available);
  EXPECT_THAT(state.description, HasSubstr("not installed"));
}

TEST(SandboxProbe, bubblewrap_that_may_not_make_namespaces_is_not_available_and_the_reason_is_its_own) {
  const TemporaryFolder folder;
  const fs::path fake = folder.path() / "bwrap";
  std::ofstream(fake) << "#!/bin/sh\n[ \"$1\" = --version ] && echo bubblewrap 0.8.0 && exit 0\n"
                         "echo 'bwrap: setting up uid map: Permission denied' >&2\nexit 1\n";
  fs::permissions(fake, fs::perms::owner_all);
  const SandboxState state = probe_sandbox(fake);
  EXPECT_FALSE(state.available);
  EXPECT_EQ(state.description, "bwrap: setting up uid map: Permission denied");
}

// A driver that starts a sandboxed tree of processes and tells when it is about to, and when the tree is there.
pid_t start_driver(const std::string& marker, int tell) {
  const pid_t driver = ::fork();
  if (driver != 0) return driver;
  const auto say = [tell](char what) {
    if (::write(tell, &what, 1) != 1) ::_exit(1);
  };
  say('a');
  auto child = Child::start(sandboxed(shell("sleep 1000 " + marker + " & sleep 1000 & echo; wait"), {}));
  if (!child) ::_exit(1);
  while (child->standard_output().empty() && !child->poll()) child->wait_for_news(-1, std::chrono::seconds(1));
  say('b');
  while (true) ::pause();
}

TEST_F(Sandbox, nothing_is_left_when_this_process_is_killed_at_any_moment) {
  for (int moment = 0; moment <= 20; ++moment) {
    const std::string marker = "kagent-test-" + std::to_string(::getpid()) + "-" + std::to_string(moment);
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    const pid_t driver = start_driver(marker, ends[1]);
    ::close(ends[1]);
    char said = 0;
    ASSERT_EQ(::read(ends[0], &said, 1), 1);
    // Sooner or later while bubblewrap sets up; the last time with the whole tree running.
    if (moment == 20) {
      ASSERT_EQ(::read(ends[0], &said, 1), 1);
    } else {
      ::usleep(static_cast<useconds_t>(moment) * 700);
    }
    const std::set<pid_t> tree = test::processes_with(marker);
    if (moment == 20) {
      EXPECT_GE(tree.size(), 3u);
    }
    ::kill(driver, SIGKILL);
    ::waitpid(driver, nullptr, 0);
    ::close(ends[0]);
    // One that is about to die may still start another, which dies as well.
    for (std::set<pid_t> left = test::processes_with(marker); !left.empty(); left = test::processes_with(marker))
      for (const pid_t pid : left) ASSERT_TRUE(test::ProcessEnd(pid).comes()) << "moment " << moment;
  }
}

}  // namespace
}  // namespace kagent::util
