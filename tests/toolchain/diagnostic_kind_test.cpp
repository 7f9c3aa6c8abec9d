// SPDX-License-Identifier: Apache-2.0
#include "toolchain/diagnostic_kind.h"

#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "util/files.h"
#include "util/subprocess.h"

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
           {"/w/k.cu(2): error: expression must be a modifiable lvalue", DiagnosticKind::type_mismatch},
           {"/w/k.cu(2): error: expression must have a constant value", DiagnosticKind::constant_expression},
           {"/w/k.cu(2): error: too few arguments for class template \"A\"", DiagnosticKind::template_deduction},
           {"/w/k.cu(2): error: calling a __host__ function(\"g(float)\") from a __global__ function(\"k\") is not "
            "allowed",
            DiagnosticKind::host_function},
           {"k.cu(2): error: A function without execution space annotations (__host__/__device__/__global__) is "
            "considered a host function, and host functions are not allowed in JIT mode.",
            DiagnosticKind::host_function},
           {"/w/k.cu(2): error: incomplete type \"nvcuda::wmma::fragment<nvcuda::wmma::matrix_a, 16, 16, 16, double, "
            "nvcuda::wmma::row_major>\" is not allowed",
            DiagnosticKind::unsupported},
           {"ptxas /tmp/k.ptx, line 23; error   : Arguments mismatch for instruction 'add'",
            DiagnosticKind::type_mismatch},
           {"/w/k.cu(2): error: something new", DiagnosticKind::other}})
    EXPECT_EQ(name(only(output).kind), name(kind)) << output;
}

// Each kind of mistake as the compilers of this machine tell it.
TEST(Diagnose, tells_the_kinds_of_real_errors_apart) {
  struct Mistake {
    const char* code;
    DiagnosticKind kind;
  };
  const std::vector<Mistake> mistakes = {
      {"void f(float* y) { y[0] = scale; }", DiagnosticKind::undeclared_name},
      {"void f(float* y) { float4 v; }", DiagnosticKind::undeclared_name},
      {"struct S { int a; }; void f(S* y) { y->b = 1; }", DiagnosticKind::undeclared_name},
      {"void f(float* y) { float* p = 3.0f; }", DiagnosticKind::type_mismatch},
      {"void f(const float* x) { float* p = x; }", DiagnosticKind::type_mismatch},
      {"void f(const float* x) { x[0] = 1; }", DiagnosticKind::type_mismatch},
      {"void g(int, int); void f() { g(1); }", DiagnosticKind::type_mismatch},
      {"struct V { float a; }; void g(V); void f(float* y) { g(y); }", DiagnosticKind::type_mismatch},
      {"struct V { float a; }; void f(V* y) { y[0] = y[0] + y[1]; }", DiagnosticKind::type_mismatch},
      {"template <class T> T m(T a, T b); void f(float* y) { y[0] = m(1.0f, 2.0); }",
       DiagnosticKind::template_deduction},
      {"template <int N, class T> void m(T*); void f(float* y) { m(y); }", DiagnosticKind::template_deduction},
      {"template <class T, int N> struct A {}; void f() { A<float> a; }", DiagnosticKind::template_deduction},
      {"template <int N> struct A {}; void f(int n) { A<n> a; }", DiagnosticKind::constant_expression},
      {"void f(int n) { constexpr int k = n; }", DiagnosticKind::constant_expression},
      {"#include \"not/there.h\"", DiagnosticKind::missing_include},
      {"void f(float* y) { y[0] = 1 }", DiagnosticKind::syntax},
      {"void f() { int i = 0; int i = 1; }", DiagnosticKind::redefinition},
      {"static_assert(sizeof(char) == 2, \"no\");", DiagnosticKind::static_assertion},
      {"__attribute__((always_inline, target(\"avx512f\"))) inline void g() {} void f() { g(); }",
       DiagnosticKind::unsupported}};
  const util::TemporaryFolder folder;
  const std::string file = (folder.path() / "k.cpp").string();
  int compilers = 0;
  for (const char* compiler : {"/usr/bin/g++", "/usr/bin/clang++"}) {
    if (!std::filesystem::exists(compiler)) continue;
    ++compilers;
    for (const Mistake& mistake : mistakes) {
      const std::string source = "// The first line.\n" + std::string(mistake.code) + "\n";
      ASSERT_TRUE(util::write_file_atomically(file, source));
      util::Command command;
      // The last mistake is found only where code is made.
      command.argv = {compiler, "-std=c++17", "-S", "-o", "/dev/null", file};
      command.environment = util::minimal_environment();
      const auto finished = util::run(command);
      ASSERT_TRUE(finished) << finished.error().message;
      const auto all = diagnose(finished->standard_error, {source, file, "k.cpp"});
      ASSERT_FALSE(all.empty()) << compiler << ": " << mistake.code << "\n" << finished->standard_error;
      EXPECT_EQ(name(all.front().kind), name(mistake.kind)) << compiler << ": " << finished->standard_error;
      EXPECT_EQ(all.front().line, 2) << compiler << ": " << finished->standard_error;
      EXPECT_THAT(all.front().excerpt, HasSubstr("  > 2 | " + std::string(mistake.code)));
    }
  }
  if (compilers == 0) GTEST_SKIP() << "neither g++ nor clang++ is in /usr/bin";
}

TEST(Diagnose, takes_the_line_from_the_note_where_the_error_is_elsewhere) {
  const Diagnostic inlined = only(
      "/usr/include/avx512fintrin.h:6357:1: error: inlining failed in call to 'always_inline' 'void "
      "_mm512_storeu_ps(void*, __m512)': target specific option mismatch\n/w/k.cu:4:63: note: called from here\n");
  EXPECT_EQ(inlined.line, 4);
  EXPECT_EQ(name(inlined.kind), "unsupported");
  const Diagnostic open =
      only("At end of source: error: expected a \"}\"\n/w/k.cu(2): note #3196-D: to match this \"{\"\n");
  EXPECT_EQ(open.line, 2);
  EXPECT_EQ(name(open.kind), "syntax");
}

// ptxas counts the lines of its own input.
TEST(Diagnose, finds_what_the_assembler_means_in_the_source) {
  const std::string source =
      "__global__ void k(float* y) {\n  __shared__ float tile[20000];\n  asm(\"redux.sync.min.f32 ...\");\n"
      "  asm(\"wgmma.fence.sync.aligned;\");\n}\n";
  const auto line = [&](const std::string& output) {
    const auto all = diagnose(output, {source, "/w/k.cu", "k.cu"});
    EXPECT_EQ(all.size(), 1u) << output;
    return all.empty() ? -1 : all.front().line;
  };
  const std::string end = "ptxas fatal   : Ptx assembly aborted due to errors\n";
  EXPECT_EQ(line("ptxas error   : Entry function '_Z1kPf' uses too much shared data (0x13880 bytes, 0xc000 max)\n"), 2);
  EXPECT_EQ(line("ptxas /t/k.ptx, line 23; error   : Instruction 'redux.f32' not supported on .target 'sm_90'\n" + end),
            3);
  EXPECT_EQ(
      line("ptxas /t/k.ptx, line 9; error   : Instruction 'wgmma.fence' not supported on .target 'sm_90'\n" + end), 4);
  EXPECT_EQ(line("ptxas /t/k.ptx, line 9; error   : Instruction 'tcgen05.wait' not supported on .target 'sm_90'\n"), 0);
}

TEST(Diagnose, reads_what_the_linker_says_without_the_word_error) {
  EXPECT_EQ(
      name(only("/usr/bin/ld: /t/k.o: in function `main':\nk.cpp:(.text+0x10): undefined reference to `g(float*)'\n"
                "collect2: error: ld returned 1 exit status\n")
               .kind),
      "undefined_symbol");
  EXPECT_EQ(name(only("/usr/bin/ld: b.o: in function `f()':\nb.cpp:(.text+0x0): multiple definition of `f()'; "
                      "a.o:a.cpp:(.text+0x0): first defined here\ncollect2: error: ld returned 1 exit status\n")
                     .kind),
            "redefinition");
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

TEST(Classified, shows_the_code_that_the_assembler_does_not) {
  const std::string text = classified(
      diagnose("ptxas /t/k.ptx, line 9; error   : Instruction 'wgmma.fence' not supported on .target 'sm_90'\n",
               {"void k() {\n  asm(\"wgmma.fence.sync.aligned;\");\n}\n", "/w/k.cu", "k.cu"}));
  EXPECT_THAT(text, HasSubstr("class: unsupported at line 2\n    1 | void k() {\n  > 2 |   asm(\"wgmma"));
}

TEST(Classified, says_nothing_of_what_it_does_not_know) {
  EXPECT_THAT(classified({{DiagnosticKind::other, {}, 3, "odd", {}, {}}}), IsEmpty());
  EXPECT_THAT(classified({}), IsEmpty());
}

}  // namespace
}  // namespace kagent::toolchain
