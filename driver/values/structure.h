// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace kagent {

// What a source is made of, as far as its words show: nothing is compiled. Names that the source gives, comments and
// layout leave no trace in it.
struct Structure {
  static constexpr std::size_t kDeepest = 8;
  static constexpr std::size_t kMostRuns = 4096;

  int functions = 0;                  // definitions, kernels among them
  int kernels = 0;                    // __global__
  int launches = 0;                   // <<< >>>, cudaLaunchKernel and their like
  std::array<int, kDeepest> loops{};  // by depth of nesting, from 1; deeper ones count as the deepest
  int loop_depth = 0;                 // of the deepest nest, calls of the source's own functions followed
  bool recursive = false;             // a function calls itself, directly or through others
  int unrolled = 0;                   // #pragma unroll and its like
  int vector_bytes = 0;               // widest vector type or register: 16 for float4, 32 for __m256
  int stages = 0;                     // waits for groups of asynchronous copies
  int barriers = 0, atomics = 0, shuffles = 0;
  int shared_arrays = 0, local_arrays = 0;
  std::set<std::string> spaces;  // "shared", "dynamic-shared", "constant", "read-only", "texture"
  std::set<std::string> means;   // "async-copy", "tma", "tensor-core", "cluster", "simd", "openmp", "prefetch", ...
  std::set<std::string> maths;   // families of functions: "exponential", "logarithm", "trigonometric", ...
  std::set<std::string> types;   // of floating point: "float64", "float32", "tf32", "float16", "bfloat16", "float8"
  std::set<std::string> library_calls;  // sorting, containers, allocation: "sort", "vector", "cudaMalloc", ...
  std::vector<std::string> launch;      // geometry of its own, an expression each

  // Hash of the words, names numbered as they come; what the compiler overlooks (const, needless braces) left out.
  std::uint64_t code = 0;
  // Hashes of runs of four words, sorted; of a long source the smallest ones, a fair sample (Broder 1997).
  std::vector<std::uint64_t> runs;
};

// The structure of a source's text. Accepts anything; linear in its length.
Structure structure_of_text(std::string_view source);

}  // namespace kagent
