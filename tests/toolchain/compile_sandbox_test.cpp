// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "toolchain/host_fixture.h"
#include "toolchain/tool_process.h"
#include "util/sandbox.h"

namespace kagent::toolchain {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kSecret = "s3cr3t_expected_values";

// A project whose golden folder and whose neighbour hold a secret.
class CompileSandbox : public HostFixture {
 protected:
  void SetUp() override {
    if (!util::sandbox_state().available) GTEST_SKIP() << util::sandbox_state().description;
    options_.allow_unsandboxed = false;
    write(golden() / "y.txt", kSecret);
    write(folder_.path() / "neighbour" / "y.txt", kSecret);
    options_.covered = {golden()};
  }
  fs::path golden() const { return project() / "golden"; }
  // Everything that compiling the source left behind or said.
  std::string traces_of(const std::string& source) {
    const auto toolchain = make_host_toolchain(options_);
    const fs::path work = work_folder();
    const auto result = toolchain->compile({source, work});
    EXPECT_TRUE(result);
    std::string traces = result ? result->diagnostics : "";
    for (const char* name : {"compile.log", "candidate.o", "candidate"})
      traces += util::read_file(work / name).value_or("");
    return traces;
  }
  std::vector<fs::path> hidden_files() const { return {golden() / "y.txt", folder_.path() / "neighbour" / "y.txt"}; }
};

TEST_F(CompileSandbox, shows_no_hidden_file_to_an_include) {
  for (const fs::path& file : hidden_files())
    EXPECT_THAT(traces_of("#include \"" + file.string() + "\"\n" + kKernel), Not(HasSubstr(kSecret)));
}

TEST_F(CompileSandbox, shows_no_hidden_file_to_the_assembler) {
  for (const fs::path& file : hidden_files()) {
    const std::string traces = traces_of("__asm__(\".incbin \\\"" + file.string() + "\\\"\");\n" + kKernel);
    EXPECT_THAT(traces, Not(HasSubstr(kSecret)));
    EXPECT_THAT(traces, HasSubstr("y.txt"));  // it was really tried
  }
}

TEST_F(CompileSandbox, tells_no_source_whether_a_hidden_file_exists) {
  for (const fs::path& file : hidden_files())
    EXPECT_THAT(
        traces_of("#if __has_include(\"" + file.string() + "\")\n#error it_is_there\n#endif\n" + std::string(kKernel)),
        Not(HasSubstr("it_is_there")));
}

TEST_F(CompileSandbox, shows_no_accounts_of_the_machine) {
  EXPECT_THAT(traces_of(std::string("#include \"/etc/passwd\"\n") + kKernel), Not(HasSubstr("root:")));
  EXPECT_THAT(traces_of(std::string("#if __has_include(\"/etc/passwd\")\n#error it_is_there\n#endif\n") + kKernel),
              Not(HasSubstr("it_is_there")));
}

TEST_F(CompileSandbox, shows_no_environment_of_other_processes) {
  ::setenv("KAGENT_TEST_KEY", kSecret, 1);
  EXPECT_THAT(traces_of("__asm__(\".incbin \\\"/proc/" + std::to_string(::getpid()) + "/environ\\\"\");\n" + kKernel),
              Not(HasSubstr(kSecret)));
  EXPECT_THAT(traces_of(std::string("__asm__(\".incbin \\\"/proc/self/environ\\\"\");\n") + kKernel),
              Not(HasSubstr(kSecret)));
  ::unsetenv("KAGENT_TEST_KEY");
}

TEST_F(CompileSandbox, shows_the_projects_own_headers) {
  write(project() / "include" / "p.h", "#define FACTOR 2\n");
  options_.command.options.push_back("-I" + (project() / "include").string());
  EXPECT_EQ(compile("#include <p.h>\nvoid scale(const float* x, float* y, int n) { for (int i = 0; i < n; ++i) y[i] = "
                    "FACTOR * x[i]; }")
                .outcome,
            Outcome::ok);
}

TEST_F(CompileSandbox, shows_include_folders_outside_of_the_project) {
  write(folder_.path() / "sdk" / "s.h", "#define FACTOR 2\n");
  options_.command.options.insert(options_.command.options.end(), {"-isystem", (folder_.path() / "sdk").string()});
  EXPECT_EQ(compile("#include <s.h>\nvoid scale(const float* x, float* y, int n) { for (int i = 0; i < n; ++i) y[i] = "
                    "FACTOR * x[i]; }")
                .outcome,
            Outcome::ok);
}

TEST_F(CompileSandbox, leaves_the_work_folder_usable_inside_a_covered_folder) {
  options_.covered.push_back(folder_.path() / "state");
  const fs::path work = folder_.path() / "state" / "candidates" / "1";
  fs::create_directories(work);
  write(folder_.path() / "state" / "candidates" / "2" / "y.txt", kSecret);
  const auto result = make_host_toolchain(options_)->compile({kKernel, work});
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->outcome, Outcome::ok) << result->diagnostics;
  EXPECT_EQ(run(result->binary), "2 4 6");
}

TEST_F(CompileSandbox, lets_nothing_be_written_outside_of_the_work_folder) {
  options_.command.options.push_back("-fdump-tree-optimized=" + (project() / "dump.txt").string());
  compile(kKernel);
  EXPECT_FALSE(fs::exists(project() / "dump.txt"));
}

TEST(ToolProcess, refuses_without_a_sandbox_unless_it_was_allowed) {
  const util::SandboxState none{false, "bubblewrap (bwrap) is not installed", {}, false};
  ToolProcess process;
  process.sandbox = &none;
  process.working_folder = "/";
  const util::TemporaryFolder folder;
  const auto refused = process.run({"true"}, folder.path());
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("bubblewrap (bwrap) is not installed"));
  EXPECT_THAT(refused.error().fix, HasSubstr("KAGENT_ALLOW_UNSANDBOXED"));
  process.allow_unsandboxed = true;
  EXPECT_TRUE(process.run({"true"}, folder.path()).value().ok());
}

TEST(InstallationOf, names_the_prefix_of_every_link_of_the_chain_outside_of_the_system) {
  const util::TemporaryFolder folder;
  for (const char* path : {"a/bin", "b/gcc-13/bin"}) fs::create_directories(folder.path() / path);
  ASSERT_TRUE(util::write_file_atomically(folder.path() / "b/gcc-13/bin/g++-13", ""));
  fs::create_symlink("../../b/gcc-13/bin/g++-13", folder.path() / "a/bin/g++");
  EXPECT_THAT(installation_of(folder.path() / "a/bin/g++"),
              testing::ElementsAre(folder.path() / "a", folder.path() / "b/gcc-13"));
  EXPECT_THAT(installation_of("/usr/bin/c++"), testing::Each(testing::Not(fs::path("/usr"))));
}

TEST(InstallationOf, does_not_show_the_home_of_whoever_keeps_a_compiler_there) {
  const char* const before = std::getenv("HOME");
  const std::string kept = before != nullptr ? before : "", home = "/home/somebody";
  ::setenv("HOME", home.c_str(), 1);
  EXPECT_THAT(installation_of(home + "/bin/g++"), testing::ElementsAre(home + "/bin"));
  EXPECT_THAT(installation_of(home + "/g++"), testing::ElementsAre(home + "/g++"));
  EXPECT_THAT(installation_of(home + "/opt/gcc/bin/g++"), testing::ElementsAre(home + "/opt/gcc"));
  before != nullptr ? ::setenv("HOME", kept.c_str(), 1) : ::unsetenv("HOME");
}

}  // namespace
}  // namespace kagent::toolchain
