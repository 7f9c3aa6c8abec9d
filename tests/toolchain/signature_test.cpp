// SPDX-License-Identifier: Apache-2.0
#include "toolchain/signature.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kagent::toolchain {
namespace {

using testing::HasSubstr;
using Types = std::vector<std::string>;

Parameter parameter(const std::string& name, ParameterKind kind, DType dtype) {
  Parameter result;
  result.name = name;
  result.kind = kind;
  result.dtype = dtype;
  return result;
}

const std::vector<Parameter> kParameters = {parameter("x", ParameterKind::input, DType::float32),
                                            parameter("y", ParameterKind::output, DType::float32),
                                            parameter("n", ParameterKind::size, DType::int32)};

Symbol function(const std::string& demangled, char kind = 'T') {
  return {kind, "_Z" + std::to_string(demangled.size()) + demangled, demangled};
}

std::string problem_of(const std::vector<Symbol>& symbols, const std::string& entry = "f") {
  const auto lookup = find_entry(symbols, entry, kParameters);
  EXPECT_FALSE(lookup.symbol);
  return lookup.problem;
}

std::string one(const std::string& type, ParameterKind kind, DType dtype) {
  return signature_mismatch({type}, {parameter("p", kind, dtype)});
}

TEST(FindEntry, takes_the_function_that_fits) {
  const auto lookup = find_entry({function("g(int)"), function("f(float const*, float*, int)")}, "f", kParameters);
  ASSERT_TRUE(lookup.symbol) << lookup.problem;
  EXPECT_EQ(lookup.symbol->demangled, "f(float const*, float*, int)");
}

TEST(FindEntry, tells_namespaces_apart) {
  const auto lookup =
      find_entry({function("f(float const*, float*, int)"), function("a::b::f(float const*, float*, int)")}, "a::b::f",
                 kParameters);
  ASSERT_TRUE(lookup.symbol) << lookup.problem;
  EXPECT_EQ(lookup.symbol->demangled, "a::b::f(float const*, float*, int)");
}

TEST(FindEntry, takes_a_c_function_with_or_without_its_namespace) {
  EXPECT_TRUE(find_entry({{'T', "f", "f"}}, "f", kParameters).symbol);
  EXPECT_TRUE(find_entry({{'T', "f", "f"}}, "ns::f", kParameters).symbol);
}

TEST(FindEntry, takes_the_one_overload_that_fits) {
  EXPECT_TRUE(find_entry({function("f(double const*, double*, int)"), function("f(float const*, float*, int)")}, "f",
                         kParameters)
                  .symbol);
}

TEST(FindEntry, lists_overloads_when_none_fits) {
  const std::string problem = problem_of({function("f(double const*, double*, int)"), function("f(int)")});
  EXPECT_THAT(problem, HasSubstr("'f(double const*, double*, int)', 'f(int)'"));
  EXPECT_THAT(problem, HasSubstr("'f(const float* x, float* y, int n)'"));
}

TEST(FindEntry, shows_both_signatures_when_they_differ) {
  const std::string problem = problem_of({function("f(float const*, float*, long)")});
  EXPECT_THAT(problem, HasSubstr("parameter 3: 'n' is a size of type int32, but the function takes 'long' there"));
  EXPECT_THAT(problem, HasSubstr("the source has 'f(float const*, float*, long)'"));
  EXPECT_THAT(problem, HasSubstr("kernel.json asks for 'f(const float* x, float* y, int n)'"));
}

TEST(FindEntry, names_what_is_near) {
  EXPECT_THAT(problem_of({function("softmax_forward(int)")}, "sofmax_forward"),
              HasSubstr("did you mean 'softmax_forward'?"));
  EXPECT_THAT(problem_of({function("void f<float>(float const*, float*, int)", 'W')}),
              HasSubstr("a template, or in another namespace"));
  EXPECT_THAT(problem_of({function("a::f(float const*, float*, int)")}),
              HasSubstr("'a::f(float const*, float*, int)'"));
  EXPECT_THAT(problem_of({function("a::v1::f(float const*)"), function("a::v1::f(float const*) [clone .cold]", 't')}),
              ::testing::EndsWith("it has 'a::v1::f(float const*)'"));
  EXPECT_THAT(problem_of({function("f(float const*, float*, int)", 't')}), HasSubstr("is static"));
  EXPECT_THAT(problem_of({}), HasSubstr("nor any other"));
}

TEST(FindEntry, takes_a_dispatched_function) {
  EXPECT_TRUE(find_entry({function("f(float const*, float*, int)", 'i'),
                          function("f(float const*, float*, int) [clone .avx2]", 't')},
                         "f", kParameters)
                  .symbol);
}

TEST(SignatureMismatch, counts_parameters) {
  EXPECT_EQ(signature_mismatch({"float*"}, kParameters), "the function takes 1 parameters, kernel.json lists 3");
}

TEST(SignatureMismatch, compares_element_types_of_buffers) {
  EXPECT_EQ(one("float const*", ParameterKind::input, DType::float32), "");
  EXPECT_EQ(one("unsigned short const*", ParameterKind::input, DType::bfloat16), "");
  EXPECT_EQ(one("bool*", ParameterKind::output, DType::boolean), "");
  EXPECT_EQ(one("void*", ParameterKind::workspace, DType::uint8), "");
  EXPECT_EQ(one("vec3 const*", ParameterKind::input, DType::float32), "");
  EXPECT_NE(one("double const*", ParameterKind::input, DType::float32), "");
  EXPECT_NE(one("unsigned int const*", ParameterKind::input, DType::int32), "");
  EXPECT_NE(one("float const* const*", ParameterKind::input, DType::float32), "");
  EXPECT_NE(one("float const&", ParameterKind::input, DType::float32), "");
  EXPECT_NE(one("float", ParameterKind::input, DType::float32), "");
  EXPECT_NE(one("float (*) [4]", ParameterKind::input, DType::float32), "");
}

TEST(SignatureMismatch, wants_outputs_writable_and_takes_inputs_of_either_kind) {
  EXPECT_THAT(one("float const*", ParameterKind::output, DType::float32), HasSubstr("cannot be written"));
  EXPECT_EQ(one("float*", ParameterKind::input, DType::float32), "");
}

TEST(SignatureMismatch, compares_widths_of_sizes_and_scalars) {
  EXPECT_EQ(one("unsigned long", ParameterKind::size, DType::uint64), "");
  EXPECT_EQ(one("long long", ParameterKind::size, DType::int64), "");
  EXPECT_EQ(one("_Float16", ParameterKind::scalar, DType::float16), "");
  EXPECT_NE(one("long", ParameterKind::size, DType::int32), "");
  EXPECT_NE(one("int*", ParameterKind::size, DType::int32), "");
  EXPECT_NE(one("float", ParameterKind::scalar, DType::float64), "");
  EXPECT_NE(one("some_enum", ParameterKind::scalar, DType::int32), "");
}

std::string one_of_cuda(const std::string& type, ParameterKind kind, DType dtype) {
  return signature_mismatch({type}, {parameter("p", kind, dtype)}, Language::cuda);
}

TEST(SignatureMismatch, knows_streams_and_element_types_of_cuda) {
  EXPECT_EQ(one_of_cuda("CUstream_st*", ParameterKind::stream, DType::float32), "");
  EXPECT_THAT(one_of_cuda("float*", ParameterKind::stream, DType::float32), HasSubstr("'p' is a stream, but"));
  EXPECT_EQ(one_of_cuda("__half const*", ParameterKind::input, DType::float16), "");
  EXPECT_EQ(one_of_cuda("__half", ParameterKind::scalar, DType::float16), "");
  EXPECT_EQ(one_of_cuda("__nv_bfloat16*", ParameterKind::output, DType::bfloat16), "");
  EXPECT_EQ(one_of_cuda("__nv_fp8_e4m3 const*", ParameterKind::input, DType::float8_e4m3), "");
  EXPECT_EQ(one_of_cuda("unsigned char const*", ParameterKind::input, DType::float8_e5m2), "");
  EXPECT_NE(one_of_cuda("__nv_fp8_e5m2 const*", ParameterKind::input, DType::float8_e4m3), "");
  EXPECT_NE(one_of_cuda("__half*", ParameterKind::output, DType::bfloat16), "");
  EXPECT_EQ(one_of_cuda("my_vector const*", ParameterKind::input, DType::float32), "");
}

TEST(ExpectedSignature, is_written_as_cuda_code_has_it) {
  EXPECT_EQ(expected_signature("f",
                               {parameter("x", ParameterKind::input, DType::float16),
                                parameter("stream", ParameterKind::stream, DType::float32)},
                               Language::cuda),
            "f(const __half* x, cudaStream_t stream)");
}

}  // namespace
}  // namespace kagent::toolchain
