// SPDX-License-Identifier: Apache-2.0
#include "toolchain/call_shim.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kagent::toolchain {
namespace {

using testing::HasSubstr;

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

TEST(CallShim, reads_values_and_passes_buffers) {
  EXPECT_EQ(call_shim("_Z1fPKfPfi", kParameters).value(),
            "extern \"C\" void kagent_entry(void*, void*, int) __asm__(\"_Z1fPKfPfi\");\n"
            "extern \"C\" __attribute__((visibility(\"default\"))) void kagent_call(void* const* arguments) {\n"
            "  kagent_entry(arguments[0], arguments[1], *static_cast<const int*>(arguments[2]));\n}\n");
}

TEST(CallShim, refuses_values_that_cpp_has_no_type_for) {
  EXPECT_THAT(call_shim("f", {parameter("alpha", ParameterKind::scalar, DType::bfloat16)}).error().message,
              HasSubstr("'alpha'"));
}

TEST(CallShim, refuses_a_symbol_that_would_end_its_string) {
  EXPECT_FALSE(call_shim("f\");int x;(\"", {}));
}

TEST(CudaCallShim, passes_the_stream_and_returns_a_status) {
  auto parameters = kParameters;
  parameters.push_back(parameter("alpha", ParameterKind::scalar, DType::bfloat16));
  parameters.push_back(parameter("stream", ParameterKind::stream, DType::float32));
  const std::string status = cuda_call_shim("f", parameters, true).value();
  EXPECT_THAT(status, HasSubstr("int kagent_entry(void*, void*, int, Bits<unsigned short>, void*) __asm__"));
  EXPECT_THAT(status, HasSubstr("*static_cast<const Bits<unsigned short>*>(arguments[3]), arguments[4]);"));
  EXPECT_THAT(status, HasSubstr("const int status = kagent_entry("));
  EXPECT_THAT(status, HasSubstr("return status != 0 ? status : last;"));
  EXPECT_THAT(cuda_call_shim("f", parameters, false).value(), HasSubstr("void kagent_entry("));
}

}  // namespace
}  // namespace kagent::toolchain
