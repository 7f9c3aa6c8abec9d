// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "gate/gate.h"

namespace kagent::gate {

inline const std::string kParent =
    "#include <cmath>\nnamespace ns {\nvoid scale(const float* x, float* y, int n) {\n  for (int i = 0; i < n; ++i) "
    "y[i] = 2 * x[i];\n}\n}\n";

inline std::vector<Rejection> inspect_source(const std::string& source, const std::string& parent = kParent,
                                             const Rules& rules = {}) {
  KernelSpec spec;
  spec.entry = "ns::scale";
  spec.rules = rules;
  return inspect({source, {}, "test", {}}, parent, spec);
}

// The parent with `before` in front and `inside` at the start of the entry.
inline std::string candidate(const std::string& before, const std::string& inside = {}) {
  return "#include <cmath>\n" + before + "\nnamespace ns {\nvoid scale(const float* x, float* y, int n) {\n" + inside +
         "\n  for (int i = 0; i < n; ++i) y[i] = 2 * x[i];\n}\n}\n";
}

// Style kernel: device code alone.
inline const std::string kKernelParent =
    "#include <cuda_fp16.h>\n__global__ void scale(const float* __restrict__ x, float* y, int n) {\n"
    "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) y[i] = 2 * x[i];\n}\n";

inline std::vector<Rejection> inspect_kernel(const Candidate& candidate, const Rules& rules = {},
                                             const std::string& parent = kKernelParent) {
  KernelSpec spec;
  spec.style = Style::kernel;
  spec.entry = "scale";
  spec.rules = rules;
  Parameter size;
  size.name = "n";
  size.kind = ParameterKind::size;
  spec.parameters.push_back(size);
  spec.tunables.push_back({"BLOCK", {64, 128}});
  return inspect(candidate, parent, spec, Language::cuda);
}

// The kernel with `before` in front and `inside` at the start of the entry.
inline std::string kernel(const std::string& before, const std::string& inside = {}) {
  return before + "\n__global__ void scale(const float* __restrict__ x, float* y, int n) {\n" + inside +
         "\n  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) y[i] = 2 * x[i];\n}\n";
}

// Style launcher in CUDA: host code that launches.
inline const std::string kLauncherParent =
    "#include <cuda_runtime.h>\n__global__ void scale_kernel(const float* x, float* y, int n) { y[threadIdx.x] = "
    "x[threadIdx.x]; }\nvoid scale(const float* x, float* y, int n, cudaStream_t stream) {\n"
    "  scale_kernel<<<1, n, 0, stream>>>(x, y, n);\n}\n";

inline std::vector<Rejection> inspect_launcher(const std::string& source, const Rules& rules = {},
                                               const std::string& parent = kLauncherParent) {
  KernelSpec spec;
  spec.entry = "scale";
  spec.rules = rules;
  return inspect({source, {}, "test", {}}, parent, spec, Language::cuda);
}

// The launcher with `before` in front, `in_kernel` in the kernel and `in_entry` in front of the launch.
inline std::string launcher(const std::string& in_entry, const std::string& before = {},
                            const std::string& in_kernel = {}) {
  return "#include <cuda_runtime.h>\n" + before +
         "\n__global__ void scale_kernel(const float* x, float* y, int n) {\n" + in_kernel +
         "\n  y[threadIdx.x] = x[threadIdx.x];\n}\nvoid scale(const float* x, float* y, int n, cudaStream_t stream) "
         "{\n" +
         in_entry + "\n  scale_kernel<<<1, n, 0, stream>>>(x, y, n);\n}\n";
}

inline std::vector<std::string> rules_of(const std::vector<Rejection>& rejections) {
  std::vector<std::string> rules;
  for (const Rejection& rejection : rejections) rules.push_back(rejection.rule);
  return rules;
}

inline std::string in_words(const std::vector<Rejection>& rejections) {
  std::string text;
  for (const Rejection& rejection : rejections)
    text += rejection.rule + " at line " + std::to_string(rejection.line) + ": " + rejection.message + "\n";
  return text;
}

}  // namespace kagent::gate
