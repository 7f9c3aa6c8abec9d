// SPDX-License-Identifier: Apache-2.0
#include "toolchain/diagnostic_kind.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kagent::toolchain {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kSource = "#include \"a.h\"\nline two\n#pragma unroll BLOCK\nline four\nline five\n";
const DiagnosticsContext kContext{kSource, "/w/k.cu", "k.cu"};

Diagnostic only(const std::string& output) {
  const auto all = diagnose(output, kContext);
  EXPECT_EQ(all.size(), 1u) << output;
  return all.empty() ? Diagnostic{} : all.front();
}

struct Example {
  const char* output;
  DiagnosticKind kind;
};

TEST(Diagnose, tells_the_kinds_of_error_of_every_compiler_apart) {
  for (const auto& [output, kind] : std::vector<Example>{
           {"/w/k.cu(2): error: identifier \"foo\" is undefined", DiagnosticKind::undeclared_name},
           {"/w/k.cu:2:1: error: 'foo' was not declared in this scope", DiagnosticKind::undeclared_name},
           {"/w/k.cu:2:1: error: use of undeclared identifier 'foo'", DiagnosticKind::undeclared_name},
           {"/w/k.cu(2): error: a value of type \"int\" cannot be used to initialize an entity of type \"float *\"",
            DiagnosticKind::type_mismatch},
           {"/w/k.cu:2:1: error: cannot convert 'int' to 'float*' in initialization", DiagnosticKind::type_mismatch},
           {"/w/k.cu(2): error: too few arguments in function call", DiagnosticKind::type_mismatch},
           {"/w/k.cu(2): error: no instance of function template \"pick\" matches the argument list",
            DiagnosticKind::template_deduction},
           {"/w/k.cu:1:10: fatal error: a.h: No such file or directory", DiagnosticKind::missing_include},
           {"k.cu(1): catastrophic error: cannot open source file \"a.h\"", DiagnosticKind::missing_include},
           {"/w/k.cu(2): error: expected a \";\"", DiagnosticKind::syntax},
           {"/w/k.cu(3): error: identifier \"BLOCK\" is undefined", DiagnosticKind::pragma_macro},
           {"ptxas error   : Entry function '_Z1kPf' uses too much shared data (0x13880 bytes, 0xc000 max)",
            DiagnosticKind::shared_memory},
           {"ptxas /tmp/k.ptx, line 23; error   : Instruction 'wgmma.fence' not supported on .target 'sm_90'",
            DiagnosticKind::unsupported},
           {"ptxas fatal   : Unresolved extern function '_Z5otherf'", DiagnosticKind::undefined_symbol},
           {"nvlink error   : Undefined reference to '_Z5otherf' in '/tmp/k.o'", DiagnosticKind::undefined_symbol},
           {"/usr/bin/ld: k.o: in function `f': undefined reference to `other(float)'",
            DiagnosticKind::undefined_symbol},
           {"the compiler took longer than 60000 ms", DiagnosticKind::limit},
           {"/w/k.cu(2): error: something new", DiagnosticKind::other}})
    EXPECT_EQ(name(only(output).kind), name(kind)) << output;
}

TEST(Diagnose, gives_line_core_message_and_the_code_around) {
  const Diagnostic diagnostic = only(
      "/w/k.cu(4): error: no instance of function template \"pick\" matches\n"
      "            argument types are: (float, int)\n  line four\n  ^\n");
  EXPECT_EQ(diagnostic.line, 4);
  EXPECT_EQ(diagnostic.file, "k.cu");
  EXPECT_EQ(diagnostic.message, "no instance of function template \"pick\" matches; argument types are: (float, int)");
  EXPECT_EQ(diagnostic.excerpt, "    3 | #pragma unroll BLOCK\n  > 4 | line four\n    5 | line five\n");
}

TEST(Diagnose, takes_no_line_of_another_file_for_one_of_the_source) {
  const Diagnostic diagnostic = only("/usr/include/x.h(2): error: identifier \"foo\" is undefined\n");
  EXPECT_EQ(diagnostic.line, 0);
  EXPECT_EQ(diagnostic.file, "/usr/include/x.h");
  EXPECT_THAT(diagnostic.excerpt, IsEmpty());
}

TEST(Diagnose, advises_how_a_tunable_gets_into_a_pragma) {
  EXPECT_THAT(only("/w/k.cu(3): error: identifier \"BLOCK\" is undefined\n").advice, HasSubstr("constexpr int"));
}

TEST(Diagnose, repeats_nothing_and_ends_early) {
  EXPECT_EQ(diagnose("/w/k.cu(2): error: x\n/w/k.cu(2): error: x\n", kContext).size(), 1u);
  std::string many;
  for (int i = 0; i < 100; ++i) many += "/w/k.cu(2): error: number " + std::to_string(i) + "\n";
  EXPECT_EQ(diagnose(many, kContext).size(), 8u);
  EXPECT_THAT(diagnose("", kContext), IsEmpty());
  EXPECT_THAT(diagnose("/w/k.cu(2): warning #177-D: variable \"x\" was declared but never referenced\n", kContext),
              IsEmpty());
}

TEST(Classified, names_each_class_once_with_its_lines_and_what_helps) {
  const std::string text = classified(
      diagnose("/w/k.cu(2): error: identifier \"b\" is undefined\n/w/k.cu(4): error: identifier \"c\" is undefined\n"
               "/w/k.cu(3): error: identifier \"BLOCK\" is undefined\n",
               kContext));
  EXPECT_THAT(text, HasSubstr("class: undeclared_name at line 2, 4\n"));
  EXPECT_THAT(text, HasSubstr("class: pragma_macro at line 3\nadvice: nvcc does not expand macros"));
}

TEST(Classified, says_nothing_of_what_it_does_not_know) {
  EXPECT_THAT(classified({{DiagnosticKind::other, {}, 3, "odd", {}, {}}}), IsEmpty());
  EXPECT_THAT(classified({}), IsEmpty());
}

}  // namespace
}  // namespace kagent::toolchain
