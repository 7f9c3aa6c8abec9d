// SPDX-License-Identifier: Apache-2.0
#include "build_step/generated_source.h"

#include <cstdlib>

#include <gmock/gmock.h>

#include "util/files.h"
#include "util/subprocess.h"

namespace kagent::build_step {
namespace {

using ::testing::HasSubstr;

TEST(GeneratedSource, BaselineIsIncludedByItsPath) {
  EXPECT_THAT(baseline_source("/project/a \"b\".cpp"), HasSubstr("#include \"/project/a \\\"b\\\".cpp\"\n"));
}

TEST(GeneratedSource, LinesOfAPlainNameBecomeThoseOfTheFile) {
  EXPECT_EQ(with_own_lines("#define A 1\n#line 1 \"k.cu\"\nint a;\n#line 7 \"/p/k.cu\"\n#line 3\n", "/b/\"k\".cu"),
            "#define A 1\n#line 3 \"/b/\\\"k\\\".cu\"\nint a;\n#line 7 \"/p/k.cu\"\n#line 3\n");
  EXPECT_EQ(with_own_lines("", "/b/k.cu"), "");
  EXPECT_EQ(with_own_lines("a", "/b/k.cu"), "a");
}

TEST(GeneratedSource, IsolatedNamesOfDifferentKernelsDiffer) {
  EXPECT_NE(isolated_name("ops", "a-b", "x86-64"), isolated_name("ops", "a_b", "x86-64"));
}

TEST(GeneratedSource, IsolatedNamesAreIdentifiers) {
  EXPECT_EQ(isolated_name("my-ops", "soft.max", "x86-64-v3"), "kagent_my_2dops_soft_2emax_x86_2d64_2dv3");
}

// Compiles a library with a dispatcher the way a build does, and runs a program that calls the entry.
class Dispatch : public ::testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) {
    ASSERT_TRUE(util::write_file_atomically(folder_.path() / name, text));
  }
  std::string shell(const std::string& line) {
    util::Command command;
    command.argv = {"/bin/sh", "-ec", line};
    command.working_folder = folder_.path();
    command.environment = util::minimal_environment();
    auto finished = util::run(command);
    if (!finished) return finished.error().message;
    return finished->standard_output + finished->standard_error;
  }
  void write_dispatcher(const std::vector<DispatchedLevel>& levels, bool hidden = false) {
    write("kernel.h", "namespace ops { const char* which(const float* x, long long n); }\n");
    write("kernel.cpp",
          "#include \"kernel.h\"\nconst char* ops::which(const float*, long long) { return \"baseline\"; }\n");
    write("level.cpp", "extern \"C\" const char* level_function(const float*, long long) { return \"level\"; }\n");
    write("main.cpp", "#include <cstdio>\n#include \"kernel.h\"\nint main() { std::puts(ops::which(nullptr, 1)); }\n");
    const Dispatcher dispatcher = dispatcher_source({.target = "ops",
                                                     .kernel = "which",
                                                     .baseline = baseline_source(folder_.path() / "kernel.cpp"),
                                                     .entry = "ops::which",
                                                     .symbol = "_ZN3ops5whichEPKfx",
                                                     .hidden = hidden,
                                                     .variants = levels});
    write("generated.cpp", dispatcher.source);
    write("dispatch.inc", dispatcher.resolver);
  }
  util::TemporaryFolder folder_;
};

TEST_F(Dispatch, TakesALevelThatTheProcessorHas) {
  write_dispatcher({{"x86-64", "level_function"}});
  EXPECT_EQ(shell("c++ -Wall -Wextra -Wpedantic -Werror -O2 generated.cpp level.cpp main.cpp -o app; ./app"),
            "level\n");
}

TEST_F(Dispatch, WorksInASharedLibraryWithHiddenSymbols) {
  write_dispatcher({{"x86-64", "level_function"}});
  EXPECT_EQ(shell("c++ -fPIC -fvisibility=hidden -shared -O2 generated.cpp level.cpp -o libops.so; "
                  "c++ main.cpp -L. -lops -Wl,-rpath,. -o app; ./app"),
            "level\n");
}

TEST_F(Dispatch, OfAHiddenEntryReachesTheLibrarysOwnWhateverTheProgramDefines) {
  write_dispatcher({{"x86-64", "level_function"}}, true);
  write("user.cpp", "#include \"kernel.h\"\nconst char* inside() { return ops::which(nullptr, 1); }\n");
  write("main.cpp",
        "#include <cstdio>\n#include \"kernel.h\"\nconst char* ops::which(const float*, long long) { return "
        "\"the program's\"; }\nconst char* inside();\nint main() { std::puts(inside()); }\n");
  EXPECT_EQ(shell("c++ -fPIC -shared -O2 generated.cpp level.cpp user.cpp -o libops.so; "
                  "c++ main.cpp -L. -lops -Wl,-rpath,. -o app; ./app"),
            "level\n");
}

TEST_F(Dispatch, FallsBackToTheBaseline) {
  write_dispatcher({});
  EXPECT_EQ(shell("c++ -Wall -Wextra -Wpedantic -Werror -O2 generated.cpp main.cpp -o app; ./app"), "baseline\n");
}

TEST_F(Dispatch, WorksUnderTheAddressSanitizer) {
  write_dispatcher({{"x86-64", "level_function"}});
  EXPECT_EQ(shell("c++ -fsanitize=address,undefined -O1 generated.cpp level.cpp main.cpp -o app; ./app"), "level\n");
}

TEST(GeneratedSource, HigherLevelsAreAskedForFirst) {
  const Dispatcher dispatcher =
      dispatcher_source({.target = "t",
                         .kernel = "k",
                         .baseline = baseline_source("/k.cpp"),
                         .entry = "f",
                         .symbol = "_Z1fv",
                         .hidden = false,
                         .variants = {{"x86-64-v2", "two"}, {"x86-64-v4", "four"}, {"x86-64-v3", "three"}}});
  const std::string& text = dispatcher.resolver;
  EXPECT_LT(text.find("return four"), text.find("return three"));
  EXPECT_LT(text.find("return three"), text.find("return two"));
  EXPECT_LT(text.find("return two"), text.find("f_kagent_baseline"));
}

}  // namespace
}  // namespace kagent::build_step
