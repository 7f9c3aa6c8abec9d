// SPDX-License-Identifier: Apache-2.0
#include "gate/gate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gate/gate_fixture.h"

namespace kagent::gate {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> rules(const std::string& before, const std::string& inside = {}) {
  return rules_of(inspect_source(candidate(before, inside)));
}

TEST(Gate, names_rule_line_and_word) {
  const auto rejections = inspect_source(candidate("", "  fopen(\"x\", \"r\");"));
  ASSERT_EQ(rejections.size(), 1u);
  EXPECT_EQ(rejections[0].rule, "forbidden-file");
  EXPECT_EQ(rejections[0].line, 5);
  EXPECT_THAT(rejections[0].message, HasSubstr("'fopen'"));
}

TEST(Gate, wants_the_entry_to_stay_as_its_callers_know_it) {
  EXPECT_THAT(rules_of(inspect_source("namespace ns { void other() {} }")), ElementsAre("entry-missing"));
  EXPECT_THAT(rules_of(inspect_source("")), ElementsAre("entry-missing"));
  EXPECT_THAT(rules_of(inspect_source("namespace ns { void scale(const float* x, float* y, int n); }")),
              ElementsAre("entry-missing"));
  EXPECT_THAT(rules_of(inspect_source("namespace ns { int scale(const float* x, float* y, int n) { return 0; } }")),
              ElementsAre("entry-changed"));
  EXPECT_THAT(rules_of(inspect_source("namespace ns { static void scale(const float* x, float* y, int n) {} }")),
              ElementsAre("entry-changed"));
  EXPECT_THAT(rules_of(inspect_source("namespace ns { template <class T> void scale(const T* x, T* y, int n) {} }")),
              Contains("entry-changed"));
  EXPECT_THAT(rules("#define scale other_scale"), Contains("entry-changed"));
  EXPECT_THAT(rules_of(inspect_source("void ns::scale(const float* x, float* y, int n) noexcept {}")), IsEmpty());
}

TEST(Gate, says_nothing_of_an_entry_that_the_parent_makes_by_a_macro) {
  const std::string parent =
      "#define KERNEL(name) void name(const float* x, float* y, int n)\nnamespace ns { KERNEL(scale) {} }\n";
  EXPECT_THAT(inspect_source(parent + "// more\n", parent), IsEmpty());
}

TEST(Gate, refuses_headers_that_the_parent_does_not_have) {
  EXPECT_THAT(rules("#include <fstream>"), ElementsAre("foreign-include"));
  EXPECT_THAT(rules("#include \"golden.h\""), ElementsAre("foreign-include"));
  EXPECT_THAT(rules("#include \"/etc/passwd\""), ElementsAre("absolute-include"));
  EXPECT_THAT(rules("#include \"../golden/y.npy\""), ElementsAre("absolute-include"));
  EXPECT_THAT(rules("#define H <cstdio>\n#include H"), ElementsAre("computed-include"));
  EXPECT_THAT(rules("#include_next <vector>"), ElementsAre("foreign-include"));
  EXPECT_THAT(rules("import <vector>;"), Contains("foreign-include"));
  EXPECT_THAT(rules("?\?=include <cstdio>"), Contains("trigraph"));
  EXPECT_THAT(rules("%:include <cstdio>"), ElementsAre("foreign-include"));
  EXPECT_THAT(rules("#inc\\\nlude <cstdio>"), ElementsAre("foreign-include"));
  EXPECT_THAT(rules("/* x */ # /* y */ include /* z */ <cstdio>"), ElementsAre("foreign-include"));
}

TEST(Gate, refuses_to_embed_or_probe_files) {
  EXPECT_THAT(rules("const unsigned char d[] = {\n#embed \"golden/y.npy\"\n};"), Contains("embedded-file"));
  EXPECT_THAT(rules("#if __has_include(\"golden/y.npy\")\n#endif"), ElementsAre("file-probe"));
  EXPECT_THAT(rules("asm(\".incbin \\\"golden/y.npy\\\"\");"), Contains("inline-assembly"));
}

TEST(Gate, refuses_pragmas_and_attributes_that_change_what_is_compiled) {
  EXPECT_THAT(rules("#pragma GCC optimize(\"fast-math\")"), ElementsAre("pragma-optimize"));
  EXPECT_THAT(rules("_Pragma(\"GCC optimize(\\\"O0\\\")\")"), ElementsAre("pragma-optimize"));
  EXPECT_THAT(rules("#pragma STDC FENV_ACCESS ON"), ElementsAre("pragma-optimize"));
  EXPECT_THAT(rules("#pragma clang fp reassociate(on)"), ElementsAre("pragma-optimize"));
  EXPECT_THAT(rules("#pragma GCC target(\"avx512f\")"), ElementsAre("pragma-target"));
  EXPECT_THAT(rules("#pragma weak clock"), Contains("pragma"));
  EXPECT_THAT(rules("#pragma redefine_extname clock x"), Contains("pragma"));
  EXPECT_THAT(rules("#pragma omp target"), ElementsAre("pragma"));
  EXPECT_THAT(rules("__attribute__((optimize(\"Ofast\"))) void f() {}"), ElementsAre("attribute-optimize"));
  EXPECT_THAT(rules("[[gnu::optimize(\"Ofast\")]] void f() {}"), ElementsAre("attribute-optimize"));
  EXPECT_THAT(rules("__attribute__((noinline, __target__(\"avx512f\"))) void f() {}"), ElementsAre("attribute-target"));
  EXPECT_THAT(rules("[[using gnu: hot, target(\"avx2\")]] void f() {}"), ElementsAre("attribute-target"));
  EXPECT_THAT(rules("__attribute__((target_clones(\"avx2\", \"default\"))) void f() {}"),
              ElementsAre("attribute-target"));
  EXPECT_THAT(rules("__attribute__((constructor)) void f() {}"), ElementsAre("attribute"));
  EXPECT_THAT(rules("__attribute__((alias(\"_Z1gv\"))) void f();"), ElementsAre("attribute"));
  EXPECT_THAT(rules("#define A target\n__attribute__((A(\"avx2\"))) void f() {}"), ElementsAre("attribute"));
}

TEST(Gate, refuses_to_look_past_line_tricks) {
  EXPECT_THAT(rules("#line 1 \"other.cpp\""), ElementsAre("line-directive"));
  EXPECT_THAT(rules("# 33 \"other.cpp\""), ElementsAre("line-directive"));
  EXPECT_THAT(rules("#ident \"x\""), ElementsAre("directive"));
}

TEST(Gate, refuses_new_macros_over_words_of_the_language) {
  EXPECT_THAT(rules("#define float double"), ElementsAre("macro-redefinition"));
  EXPECT_THAT(rules("#undef __OPTIMIZE__"), ElementsAre("macro-redefinition"));
  EXPECT_THAT(rules("#define const"), ElementsAre("macro-redefinition"));
}

TEST(Gate, refuses_names_that_are_spelled_in_pieces) {
  EXPECT_THAT(rules("#define CAT(a, b) a##b"), ElementsAre("token-pasting"));
  EXPECT_THAT(rules("#define CAT(a, b) a%:%:b"), ElementsAre("token-pasting"));
  EXPECT_THAT(rules("", "\\u0066open(\"x\", \"r\");"), Contains("stray-backslash"));
  EXPECT_THAT(rules("", "fo\\\npen(\"x\", \"r\");"), ElementsAre("forbidden-file"));
}

TEST(Gate, tells_variables_from_the_functions_they_are_named_like) {
  EXPECT_THAT(rules("", "float time = 0, read = 1, signal = time + read; y[0] = signal;"), IsEmpty());
  EXPECT_THAT(rules("", "struct { int open; } s{}; y[0] = s.open;"), IsEmpty());
  EXPECT_THAT(rules("struct R { float read(int i) const { return i; } };", "y[0] = R{}.read(1);"), IsEmpty());
  EXPECT_THAT(rules("static int read(int a) { return a; }", "read(0, y, 4);"), ElementsAre("forbidden-file"));
  EXPECT_THAT(rules("", "time(nullptr);"), ElementsAre("forbidden-clock"));
  EXPECT_THAT(rules("", "::read(0, y, 4);"), ElementsAre("forbidden-file"));
  EXPECT_THAT(rules("", "auto* f = &system; f(\"ls\");"), ElementsAre("forbidden-process"));
  EXPECT_THAT(rules("#include <vector>\nusing namespace std;", "thread t(f);"), ElementsAre("forbidden-thread"));
}

TEST(Gate, refuses_variables_that_outlive_the_call) {
  for (const char* variable : {"static int calls = 0;",
                               "static const float* last;",
                               "thread_local int n;",
                               "static thread_local float scratch[64];",
                               "inline int calls;",
                               "int calls;",
                               "float* last = nullptr;",
                               "std::vector<float> cache;",
                               "struct { int n; } memo;",
                               "struct memo_t { int n; } memo;",
                               "namespace { float cache[1024]; }",
                               "static std::vector<float> cache(1024);",
                               "const float* last;",
                               "int a = 1, b;",
                               "struct S { static inline int n = 0; };",
                               "constinit int calls = 0;",
                               "static struct { int n; } memo;",
                               "float cache[4] = {1};",
                               "int x{3};",
                               "volatile int flag;",
                               "template <class T> struct C { static T value; };",
                               "namespace a::b { int calls; }",
                               "static int (*f)(int);"})
    EXPECT_THAT(rules(variable), Contains("static-state")) << variable;
  EXPECT_THAT(rules("", "static int calls; ++calls;"), ElementsAre("static-state"));
  EXPECT_THAT(rules("", "auto f = [] { static int calls; return ++calls; }; f();"), ElementsAre("static-state"));
  EXPECT_THAT(rules("#define KEEP static", "KEEP int calls;"), Contains("static-state"));
}

TEST(Gate, takes_constants_types_and_functions_for_what_they_are) {
  for (const char* harmless : {"static constexpr int n = 3;",
                               "const float t[] = {1, 2};",
                               "float* const p = nullptr;",
                               "static const char* const s = \"x\";",
                               "struct S { int a, b; };",
                               "struct S;",
                               "enum E { a, b };",
                               "enum class E : int;",
                               "using I = int;",
                               "typedef int I;",
                               "static int f(int a);",
                               "static int f();",
                               "int f(float);",
                               "inline int f() { return 1; }",
                               "template <int N> int f();",
                               "namespace a = ns;",
                               "static_assert(sizeof(int) == 4, \"x\");",
                               "template <class T> constexpr T pi = T(3);",
                               "class A { public: static int f(int n) { return n; } int n; private: float m = 0; };",
                               "using namespace ns;",
                               "static inline auto f(int n) -> int { return n; }",
                               "struct T { T operator+(const T& o) const { return o; } };",
                               "constexpr float kTable[2][2] = {{1, 2}, {3, 4}};",
                               "namespace { inline namespace v1 { void g() {} } }",
                               ";",
                               "template <class T> requires true int h(T) { return 0; }"})
    EXPECT_EQ(in_words(inspect_source(candidate(harmless))), "") << harmless;
}

TEST(Gate, says_which_line_replaces_a_tunable) {
  KernelSpec spec;
  spec.entry = "f";
  const auto inspect_text = [&](const std::string& source) {
    return inspect({source, {{"BLOCK", 8}}, "search", {}}, source, spec);
  };
  const auto rejections = inspect_text("// x\n#define BLOCK 64\nvoid f() {}\n");
  ASSERT_EQ(rules_of(rejections), std::vector<std::string>{"tunable-overridden"});
  EXPECT_EQ(rejections[0].line, 2);
  EXPECT_THAT(rules_of(inspect_text("#undef BLOCK\n")), ElementsAre("tunable-overridden"));
  EXPECT_THAT(rules_of(inspect_text("#ifdef BLOCK\n#define BLOCK 64\n#endif\n")), ElementsAre("tunable-overridden"));
  EXPECT_THAT(inspect_text("#ifndef BLOCK\n#define BLOCK 64\n#endif\n"), IsEmpty());
  EXPECT_THAT(inspect_text("#if !defined(BLOCK)\n#define BLOCK 64\n#endif\n#define OTHER BLOCK\n"), IsEmpty());
}

TEST(Gate, refuses_what_is_no_text_or_too_large) {
  EXPECT_THAT(rules_of(inspect_source(std::string(1 << 20, ' '))), ElementsAre("too-large"));
  EXPECT_THAT(rules(std::string("// \0", 4)), Contains("not-text"));
  EXPECT_THAT(rules("// \xFF"), Contains("not-text"));
  EXPECT_THAT(rules("// \u202E"), Contains("not-text"));
}

TEST(Gate, takes_broken_code_without_harm) {
  for (const std::string text : {"(((((",
                                 "}}}}}",
                                 "{{{{{",
                                 "[[[[",
                                 "[[",
                                 "#",
                                 "#\n#",
                                 "#define",
                                 "#include",
                                 "_Pragma",
                                 "_Pragma(",
                                 "extern",
                                 "static",
                                 "static (",
                                 "__attribute__",
                                 "__attribute__((",
                                 "asm",
                                 "reinterpret_cast",
                                 "namespace",
                                 "struct",
                                 "template <",
                                 "=",
                                 "R\"",
                                 "::",
                                 "enum"})
    EXPECT_NO_THROW(inspect_source(text)) << text;
  EXPECT_LE(inspect_source(std::string(250'000, '(')).size(), 20u);
  for (const std::string piece : {"[", "static a ", "__attribute__((", "extern a ", "reinterpret_cast ", "struct { ",
                                  "asm(", "a<", "#if x\n#define y\n", "scale(", "\\\n"}) {
    std::string hostile;
    while (hostile.size() < 250'000) hostile += piece;
    EXPECT_LE(inspect_source(hostile).size(), 20u) << piece;
  }
  std::string many;
  for (int i = 0; i < 2000; ++i) many += "int v" + std::to_string(i) + "; fopen(); {";
  EXPECT_LE(inspect_source(many).size(), 20u);
}

}  // namespace
}  // namespace kagent::gate
