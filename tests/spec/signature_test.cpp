// SPDX-License-Identifier: Apache-2.0
#include "spec/signature.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kagent::spec {
namespace {

using ::testing::HasSubstr;

// "x:const float32*, n:int32": each parameter with what was understood.
std::string understood(const std::string& source, const std::string& entry = "f") {
  const auto signature = find_signature(source, entry);
  if (!signature) return "error: " + signature.error().message + "; " + signature.error().fix;
  std::string text;
  for (const SignatureParameter& p : signature->parameters) {
    text += (text.empty() ? "" : ", ") + p.name + ":" + (p.is_const ? "const " : "");
    text += p.is_stream ? "stream" : p.dtype ? std::string(name(*p.dtype)) : "void";
    text += p.is_pointer ? "*" : "";
  }
  return text;
}

TEST(Signature, PointersAndNumbersOfEveryUsualSpelling) {
  EXPECT_EQ(understood("void f(const float* x, float *y, int n);"), "x:const float32*, y:float32*, n:int32");
  EXPECT_EQ(understood("void f(float const * __restrict__ x, double* __restrict y, float* const restrict z) {}"),
            "x:const float32*, y:float64*, z:float32*");
  EXPECT_EQ(understood(
                "void f(std::int32_t a, std::size_t b, unsigned c, unsigned long long d, long int e, short unsigned g, "
                "const std::uint8_t h, signed char i, ptrdiff_t j);"),
            "a:int32, b:uint64, c:uint32, d:uint64, e:int64, g:uint16, h:const uint8, i:int8, j:int64");
  EXPECT_EQ(understood("void f(const _Float16* a, __bf16* b, bool c, std::byte* d, const void* e);"),
            "a:const float16*, b:bfloat16*, c:bool, d:uint8*, e:const void*");
  EXPECT_EQ(understood("void f(const float x[], double y[16], const float z[restrict 4]);"),
            "x:const float32*, y:float64*, z:const float32*");
  EXPECT_EQ(understood("cudaError_t f(float* y, cudaStream_t stream);"), "y:float32*, stream:stream");
}

TEST(Signature, DefaultsAttributesAndCommentsDoNotMatter) {
  EXPECT_EQ(
      understood("// void f(int wrong);\n/* void f(int w); */\n#define f(x) void f(int w)\n"
                 "[[nodiscard]] extern \"C\" __attribute__((visibility(\"default\"))) void f(\n"
                 "    [[maybe_unused]] const float* x /* input */, // comment, with ) and ,\n"
                 "    float* y = nullptr, int n = (1 < 2) ? g(1, 2) : 3, float a = 1.0f) noexcept(true) { int z; }"),
      "x:const float32*, y:float32*, n:int32, a:float32");
  EXPECT_EQ(understood("const char* text = \"void f(int w) {\"; char c = '{'; auto r = R\"x( void f(int w); "
                       ")x\";\nvoid f(float* y);"),
            "y:float32*");
}

TEST(Signature, ParametersWithoutNamesGetOne) {
  EXPECT_EQ(understood("void f(const float*, unsigned int, std::size_t, float* y);"),
            "argument1:const float32*, argument2:uint32, argument3:uint64, y:float32*");
  EXPECT_EQ(understood("void f(void);"), "");
  EXPECT_EQ(understood("void f();"), "");
}

TEST(Signature, AliasesOfTheSourceAreFollowed) {
  EXPECT_EQ(understood("using real = float; typedef unsigned long count_t; namespace a { using index = real; }\n"
                       "void f(const real* x, count_t n, a::index* y);"),
            "x:const float32*, n:uint64, y:float32*");
  EXPECT_THAT(understood("using a = b; using b = a; void f(a* x);"), HasSubstr("no dtype"));
}

TEST(Signature, NamespacesAreFoundAndMayBeLeftOut) {
  const std::string source =
      "namespace a::b { inline namespace v1 {\nstruct S { void f(int w); int g() { return 1; } };\n"
      "void helper() { f(); }\nvoid f(float* y) {}\n} }";
  EXPECT_EQ(find_signature(source, "f")->entry, "a::b::v1::f");
  EXPECT_EQ(find_signature(source, "b::v1::f")->line, 4);
  EXPECT_EQ(find_signature("extern \"C\" { void f(float* y); }", "f")->entry, "f");
  EXPECT_EQ(find_signature("void ns::f(float* y) {}", "f")->entry, "ns::f");
}

TEST(Signature, ADefinitionIsPreferredToDeclarations) {
  EXPECT_EQ(understood("void f(float*, int);\nvoid f(float* y, int n) {}\n"), "y:float32*, n:int32");
}

TEST(Signature, WhatCannotBeCalledFromOutsideIsRefusedWithTheFix) {
  EXPECT_THAT(understood("static void f(float* y) {}"), HasSubstr("make it visible"));
  EXPECT_THAT(understood("namespace { void f(float* y) {} }"), HasSubstr("make it visible"));
  EXPECT_THAT(understood("template <class T, int N = (3 > 2)> void f(T* y) {}"), HasSubstr("is a template"));
  EXPECT_THAT(understood("__device__ void f(float* y) {}"), HasSubstr("name the __global__ function"));
  EXPECT_THAT(understood("int f(float* y) {}"), HasSubstr("returns 'int'; return void"));
  EXPECT_THAT(understood("auto f(float* y) -> void {}"), HasSubstr("return void"));
}

TEST(Signature, KernelsAreUnderstoodTemplatesIncluded) {
  const std::string source =
      "namespace ops {\ntemplate <typename T, int BLOCK = 128, bool FAST = (1 < 2)>\n"
      "__global__ void __launch_bounds__(BLOCK, 2) f(const T* __restrict__ x, T* y, const __grid_constant__ int n) "
      "{}\n}";
  const auto signature = find_signature(source, "f");
  ASSERT_TRUE(signature) << signature.error().message;
  EXPECT_TRUE(signature->is_kernel);
  EXPECT_EQ(understood(source), "x:const float32*, y:float32*, n:const int32");
  ASSERT_EQ(signature->template_parameters.size(), 3U);
  EXPECT_EQ(signature->template_parameters[0].name, "T");
  EXPECT_TRUE(signature->template_parameters[0].is_type);
  EXPECT_EQ(signature->template_parameters[1].preset, "128");
  EXPECT_EQ(understood("extern \"C\" __global__ void f(const __half* a, __nv_bfloat16* b, __nv_fp8_e4m3* c) {}"),
            "a:const float16*, b:bfloat16*, c:float8_e4m3*");
  EXPECT_FALSE(find_signature("cudaError_t f(half* x, cudaStream_t s) {}", "f")->is_kernel);
}

TEST(Signature, VectorTypesAreRefusedWithTheFix) {
  for (const char* type : {"float4", "half2", "__nv_bfloat162", "uchar4", "int2"})
    EXPECT_THAT(understood("__global__ void f(const " + std::string(type) + "* x) {}"),
                HasSubstr("is of a vector type; take a pointer to its elements"))
        << type;
}

TEST(Signature, TypesThatAreNoDtypeAreRefusedWithTheFix) {
  EXPECT_THAT(understood("void f(float& y);"), HasSubstr("parameter 1 ('float& y') is a reference; take a pointer"));
  EXPECT_THAT(understood("void f(float** y);"), HasSubstr("pointer to pointers"));
  EXPECT_THAT(understood("void f(const std::vector<float>& y);"), HasSubstr("take a pointer to its elements"));
  EXPECT_THAT(understood("void f(std::span<float> y, int n);"), HasSubstr("take a pointer to its elements"));
  EXPECT_THAT(understood("void f(Matrix y);"), HasSubstr("a type that is no dtype"));
  EXPECT_THAT(understood("void f(void (*callback)(int));"), HasSubstr("error"));
  EXPECT_THAT(understood("void f(float* y, ...);"), HasSubstr("error"));
  EXPECT_THAT(understood("void f(int n, float* n);"), HasSubstr("two parameters are named 'n'"));
}

TEST(Signature, AMissingOrAmbiguousEntryIsExplained) {
  EXPECT_THAT(understood("void softmax(float* y);", "softmaxx"), HasSubstr("did you mean 'softmax'?"));
  EXPECT_THAT(understood("namespace a { inline namespace v1 { void f(float* y); } }", "a::f"),
              HasSubstr("did you mean 'a::v1::f'?"));
  EXPECT_THAT(understood("", "f"), HasSubstr("declares no function 'f'"));
  EXPECT_THAT(understood("void f(float* y) {}\nvoid f(double* y) {}"),
              HasSubstr("'f' is ambiguous: f (line 1), f (line 2)"));
  EXPECT_THAT(understood("namespace a { void f(float* y) {} }\nnamespace b { void f(float* y) {} }"),
              HasSubstr("give the namespaces"));
  EXPECT_EQ(understood("namespace a { void f(double* y) {} }\nvoid f(float* y) {}"), "y:float32*");
}

TEST(Signature, BrokenSourceIsAnErrorAndNotACrash) {
  for (const std::string& text :
       {std::string("void f("), std::string("void f(int"), std::string("}}}} void g();"), std::string("\"open"),
        std::string("R\"(open"), std::string("/* open"), std::string("#define \\"), std::string("template <"),
        std::string("namespace"), std::string("namespace a"), std::string("extern \"C\""), std::string("[["),
        std::string("using"), std::string("typedef x"), std::string(100'000, '('), std::string(100'000, '<'),
        std::string(100'000, '{'), std::string("\0\xFF\x80", 3)})
    EXPECT_FALSE(find_signature(text, "f")) << text.substr(0, 20);
}

}  // namespace
}  // namespace kagent::spec
