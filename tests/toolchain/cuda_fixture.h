// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "toolchain/cuda_toolchain.h"
#include "util/files.h"
#include "util/subprocess.h"

namespace kagent::toolchain {

// A kernel with what makes objects differ: static device data, a template, a constant, an anonymous namespace.
inline constexpr const char* kCudaKernel = R"(
#include <cuda_fp16.h>
static __device__ int launches;
static __constant__ float factors[4];
namespace { __device__ float hidden(float x) { return x * factors[0]; } }
__device__ float helper(float x) { return x + 1; }
template <class T> __global__ void __launch_bounds__(256) scale_kernel(const T* x, T* y, int n) {
  __shared__ T tile[256];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  tile[threadIdx.x] = i < n ? x[i] : T(0);
  __syncthreads();
  if (i < n) y[i] = hidden(tile[threadIdx.x]);
  if (i == 0) launches += helper(1) > 0;
}
void scale(const float* x, float* y, int n, cudaStream_t stream) {
  scale_kernel<float><<<(n + 255) / 256, 256, 0, stream>>>(x, y, n);
}
)";

// A CUDA project with one kernel, and a runtime that needs no device: it calls the entry with the arguments
// (1, 2, &3, 4) and prints what kagent_cuda_call returned.
class CudaFixture : public testing::Test {
 protected:
  CudaFixture();
  void SetUp() override;

  static Parameter parameter(const std::string& name, ParameterKind kind, DType dtype = DType::float32);
  static void write(const std::filesystem::path& path, const std::string& text);
  static std::filesystem::path nvcc();

  std::filesystem::path project() const { return folder_.path() / "project"; }
  std::filesystem::path build() const { return folder_.path() / "build"; }
  std::filesystem::path work_folder();
  // Compiles with a toolchain of its own, or with `toolchain`, in `work` or a folder of its own.
  CompileResult compile(const std::string& source, Toolchain* toolchain = nullptr);
  // What the program prints.
  static std::string run(const Binary& binary);

  util::TemporaryFolder folder_;
  CudaToolchainOptions options_;
  std::filesystem::path last_work_;
  int works_ = 0;
};

}  // namespace kagent::toolchain
