// SPDX-License-Identifier: Apache-2.0
#include "toolchain/diagnostics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kagent::toolchain {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kSource = "void f() {\n  int a;\n  b = 1;\n  c = 2;\n}\n";

std::string distilled(const std::string& output) {
  return distil(output, {kSource, "/w/k.cpp", "k.cpp"});
}

TEST(Distil, shows_each_error_with_the_code_around_it_and_the_short_name) {
  EXPECT_EQ(
      distilled("/w/k.cpp: In function 'void f()':\n/w/k.cpp:3:3: error: 'b' was not declared in this scope\n"
                "    3 |   b = 1;\n      |   ^\n"),
      "k.cpp:3:3: error: 'b' was not declared in this scope\n    2 |   int a;\n  > 3 |   b = 1;\n    4 |   c = 2;\n");
}

TEST(Distil, puts_errors_before_warnings) {
  const std::string text =
      distilled("/w/k.cpp:2:7: warning: unused variable 'a' [-Wunused-variable]\n/w/k.cpp:3:3: error: no\n");
  EXPECT_LT(text.find("error: no"), text.find("warning: unused"));
}

TEST(Distil, keeps_the_compilers_own_excerpt_for_other_files) {
  EXPECT_EQ(distilled("/p/t.h:7:1: error: bad\n    7 | bad;\n      | ^~~\n"),
            "/p/t.h:7:1: error: bad\n      7 | bad;\n        | ^~~\n");
}

TEST(Distil, keeps_the_first_notes_of_an_error_alone) {
  std::string output = "/w/k.cpp:3:3: error: no match\n";
  for (int i = 0; i < 50; ++i) output += "/w/k.cpp:1:1: note: candidate " + std::to_string(i) + "\n";
  const std::string text = distilled(output);
  EXPECT_THAT(text, HasSubstr("candidate 1\n"));
  EXPECT_THAT(text, Not(HasSubstr("candidate 2\n")));
}

TEST(Distil, counts_what_it_leaves_out_and_repeats_nothing) {
  std::string output;
  for (int i = 0; i < 100; ++i)
    output += "/w/k.cpp:3:" + std::to_string(i + 1) + ": error: e\n/w/k.cpp:3:1: error: e\n";
  EXPECT_THAT(distilled(output), HasSubstr("(92 more errors)"));
}

TEST(Distil, reads_messages_without_a_place) {
  EXPECT_EQ(distilled("cc1plus: error: bad value 'x' for '-march=' switch\n"),
            "cc1plus: error: bad value 'x' for '-march=' switch\n");
}

TEST(Distil, gives_back_what_it_does_not_recognise) {
  EXPECT_EQ(distilled("/usr/bin/ld: cannot find -lnone\n"), "/usr/bin/ld: cannot find -lnone\n");
  EXPECT_EQ(distilled(""), "");
}

TEST(Distil, removes_escapes_and_invalid_bytes) {
  EXPECT_EQ(distilled("\x1B[01m/w/k.cpp:9:1:\x1B[m \x1B[31merror: \x1B[mb\xE2\x80\n"), "k.cpp:9:1: error: b\uFFFD\n");
}

TEST(Distil, is_bounded_for_huge_lines_and_huge_output) {
  const std::string line = "/w/k.cpp:3:1: error: " + std::string(1'000'000, 'x') + "\n";
  EXPECT_LT(distilled(line).size(), 1000u);
  EXPECT_LE(distilled(std::string(3'000'000, '\n') + std::string(3'000'000, ':')).size(), 6u * 1024);
  std::string many;
  for (int i = 0; i < 20'000; ++i)
    many += "/w/f" + std::to_string(i) + ".h:1:1: warning: " + std::string(200, 'y') + "\n";
  EXPECT_LE(distilled(many).size(), 6u * 1024);
}

TEST(Distil, takes_a_line_number_beyond_the_source) {
  EXPECT_EQ(distilled("/w/k.cpp:99999999999999999999:1: error: a\n/w/k.cpp:77:1: error: b\n")
                    .find("k.cpp:77:1: error: b\n") == std::string::npos,
            false);
}

TEST(UndefinedReferences, are_listed_once_each_in_order) {
  EXPECT_THAT(
      undefined_references("/usr/bin/ld: a.o: in function `f()':\na.cpp:(.text+0x5): undefined reference to `g(int)'\n"
                           "b.cpp:1: undefined reference to `h'\nundefined reference to `g(int)'\nld.lld: error: "
                           "undefined symbol: k()\n"),
      ElementsAre("g(int)", "h", "k()"));
}

TEST(WantsNoPie, knows_the_linkers_words) {
  EXPECT_TRUE(
      wants_no_pie("ld: a.o: relocation R_X86_64_32S against `.rodata' can not be used when making a PIE object; "
                   "recompile with -fPIE"));
  EXPECT_FALSE(wants_no_pie("undefined reference to `x'"));
}

}  // namespace
}  // namespace kagent::toolchain
