// SPDX-License-Identifier: Apache-2.0
#include "toolchain/isolate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "toolchain/machine.h"
#include "util/files.h"
#include "util/subprocess.h"

namespace kagent::toolchain {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

// A kernel with everything that a linker would merge: inline functions, templates, their static variables, std::vector.
constexpr const char* kKernel = R"(
#include <stdexcept>
#include <vector>
struct kernel_error : std::runtime_error { using std::runtime_error::runtime_error; };
inline int& shared() { static int count = 0; return count; }
template <class T> T& instance() { static T value{}; return value; }
inline thread_local int per_thread = 0;
int __attribute__((noinline)) helper(int n) { return n + 1; }
int entry(int n) {
  std::vector<int> v(static_cast<unsigned long>(n), 1);
  if (n == 7) throw kernel_error("seven");
  if (n == 8) try { v.at(100); } catch (const std::out_of_range&) { return -8; }
  int sum = 0;
  for (int x : v) sum += helper(x);
  return (++shared()) * 1000 + (++instance<int>()) * 100 + (++per_thread) * 10 + sum % 10;
}
)";

constexpr const char* kMain = R"(
#include <cstdio>
#include <stdexcept>
int entry(int);
int entry_v3(int);
int main() {
  entry(1); entry(1);
  std::printf("%d %d", entry(1), entry_v3(1));
  try { entry_v3(7); } catch (const std::runtime_error& e) { std::printf(" caught %s", e.what()); }
  std::printf(" %d", entry_v3(8));
}
)";

class Isolate : public testing::Test {
 protected:
  static util::Finished run(std::vector<std::string> words) {
    util::Command command;
    command.argv = std::move(words);
    command.environment = util::minimal_environment();
    const auto finished = util::run(command);
    EXPECT_TRUE(finished) << finished.error().message;
    return finished.value_or(util::Finished{});
  }
  // Compiles `text` into the object `name`.o.
  fs::path object(const std::string& name, const std::string& text, std::vector<std::string> options = {}) {
    const fs::path source = folder_.path() / (name + ".cpp"), made = folder_.path() / (name + ".o");
    EXPECT_TRUE(util::write_file_atomically(source, text));
    std::vector<std::string> words = {"/usr/bin/c++", "-O2", "-fPIC", "-c", source.string(), "-o", made.string()};
    words.insert(words.end(), options.begin(), options.end());
    const util::Finished finished = run(words);
    EXPECT_TRUE(finished.ok()) << finished.standard_error;
    return made;
  }
  std::string names_of(const fs::path& made) {
    return run({"nm", "-g", "--defined-only", "--format=just-symbols", made.string()}).standard_output;
  }
  fs::path output() const { return folder_.path() / "isolated.o"; }

  util::TemporaryFolder folder_;
};

TEST_F(Isolate, keeps_statics_and_inline_code_of_two_levels_apart_and_lets_exceptions_out) {
  if (!machine_runs("x86-64-v3")) GTEST_SKIP() << "this machine does not run x86-64-v3";
  const fs::path base = object("base", kKernel);
  const std::vector<fs::path> high = {object("high", kKernel, {"-march=x86-64-v3", "-fno-gnu-unique"})};
  const auto isolated = isolate_symbols(high, "_Z5entryi", "_Z8entry_v3i", output());
  ASSERT_TRUE(isolated) << isolated.error().message;
  EXPECT_EQ(names_of(output()), "_Z8entry_v3i\n");

  const fs::path main = object("main", kMain), program = folder_.path() / "program";
  const std::vector<std::vector<std::string>> orders = {{base.string(), output().string()},
                                                        {output().string(), base.string()}};
  for (const auto& order : orders) {
    std::vector<std::string> words = {"/usr/bin/c++", main.string()};
    words.insert(words.end(), order.begin(), order.end());
    words.insert(words.end(), {"-o", program.string()});
    ASSERT_TRUE(run(words).ok());
    EXPECT_EQ(run({program.string()}).standard_output, "3332 1112 caught seven -8");
  }
}

TEST_F(Isolate, works_inside_a_shared_library) {
  const std::vector<fs::path> objects = {object("high", kKernel, {"-fno-gnu-unique"})};
  ASSERT_TRUE(isolate_symbols(objects, "_Z5entryi", "_Z8entry_v3i", output()));
  const fs::path library = folder_.path() / "libk.so", program = folder_.path() / "program";
  ASSERT_TRUE(
      run({"/usr/bin/c++", "-shared", object("base", kKernel).string(), output().string(), "-o", library.string()})
          .ok());
  ASSERT_TRUE(run({"/usr/bin/c++", object("main", kMain).string(), library.string(),
                   "-Wl,-rpath," + folder_.path().string(), "-o", program.string()})
                  .ok());
  EXPECT_EQ(run({program.string()}).standard_output, "3332 1112 caught seven -8");
}

TEST_F(Isolate, merges_several_objects_into_one) {
  const std::vector<fs::path> objects = {object("a", "int b(); int a() { return b(); }\n"),
                                         object("b", "int b() { return 5; }\n")};
  ASSERT_TRUE(isolate_symbols(objects, "_Z1av", "renamed", output()));
  EXPECT_EQ(names_of(output()), "renamed\n");
}

TEST_F(Isolate, shows_nothing_without_a_symbol) {
  const std::vector<fs::path> objects = {object("a", "int a() { return 1; }\nint data = 3;\n")};
  ASSERT_TRUE(isolate_symbols(objects, "", "", output()));
  EXPECT_EQ(names_of(output()), "");
}

TEST_F(Isolate, says_so_when_the_symbol_is_not_there) {
  const std::vector<fs::path> objects = {object("a", "int a() { return 1; }\n")};
  const auto isolated = isolate_symbols(objects, "_Z1bv", "c", output());
  ASSERT_FALSE(isolated);
  EXPECT_THAT(isolated.error().message, HasSubstr("no object defines '_Z1bv'"));
  EXPECT_FALSE(fs::exists(output()));
}

TEST_F(Isolate, refuses_variables_that_the_whole_process_shares) {
  const std::vector<fs::path> objects = {object("a", kKernel)};
  const auto isolated = isolate_symbols(objects, "_Z5entryi", "c", output());
  ASSERT_FALSE(isolated);
  EXPECT_THAT(isolated.error().fix, HasSubstr("-fno-gnu-unique"));
}

TEST_F(Isolate, refuses_objects_that_hold_only_code_for_link_time_optimisation) {
  const std::vector<fs::path> objects = {object("a", "int a() { return 1; }\n", {"-flto"})};
  EXPECT_FALSE(isolate_symbols(objects, "_Z1av", "c", output()));
  EXPECT_FALSE(fs::exists(output()));
}

TEST_F(Isolate, passes_on_what_the_linker_says_about_a_broken_object) {
  ASSERT_TRUE(util::write_file_atomically(folder_.path() / "x.o", "no object"));
  const std::vector<fs::path> objects = {folder_.path() / "x.o"};
  EXPECT_THAT(isolate_symbols(objects, "a", "b", output()).error().message, HasSubstr("ld failed"));
}

}  // namespace
}  // namespace kagent::toolchain
