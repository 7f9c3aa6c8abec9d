// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "toolchain/program_options.h"
#include "toolchain/toolchain.h"

namespace kagent::toolchain {

// The device code alone, beside the program in the job's work folder.
inline constexpr const char* kCubinName = "candidate.cubin";

struct CudaToolchainOptions : ProgramOptions {
  // nvcc with cub takes 44 s on two slow cores.
  CudaToolchainOptions() { time_limit = std::chrono::minutes(3); }

  std::string architecture;       // "sm_90", "sm_90a": the one that device code is made for
  std::filesystem::path toolkit;  // root of the CUDA Toolkit; empty: the one that the command's nvcc belongs to
};

// nvcc, sandboxed, for sources of style launcher. The program's shim is `extern "C" int kagent_cuda_call(void* const*
// arguments)`: arguments[i] is a buffer's device pointer, the stream's handle (CUstream), or points to the value of a
// size or scalar; it calls the entry and returns the entry's cudaError_t, or else cudaGetLastError(). Objects are equal
// for equal programs, wherever the work folder lies (in the sandbox). As with host code the baseline goes first.
//
// A candidate whose kernels could not be launched on the architecture is limits_exceeded.
std::unique_ptr<Toolchain> make_cuda_toolchain(CudaToolchainOptions options);

// The words that compile `source` into `object`: the build's own options, in their order, with the one architecture in
// place of the build's.
std::vector<std::string> cuda_compile_words(const CudaToolchainOptions& options, const std::filesystem::path& source,
                                            const std::filesystem::path& object);

}  // namespace kagent::toolchain
