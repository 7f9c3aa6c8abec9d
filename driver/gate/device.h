// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "gate/finding.h"

namespace kagent::gate {

// Whether a rule of the host's policy means something else in CUDA at this token: cg::wait(), extern __shared__, PTX.
bool is_cuda_idiom(const Tokens& tokens, std::size_t index);
// "<cuda_fp16.h>" and the like: device headers that reach nothing outside. Libraries' headers need the spec's consent.
bool is_device_header(std::string_view header, CodeKind kind, const Rules& rules);

// Clocks, traps, printing, the heap, launches from the device, values that last.
void find_device_code(const Tokens& tokens, CodeKind kind, Findings& findings);
// Inline PTX: arithmetic, memory, barriers and matrix instructions are a kernel's work, everything else is not.
void find_ptx(const Tokens& tokens, CodeKind kind, Findings& findings);
// Calls of the CUDA run time in host code, beside launching.
void find_runtime_calls(const Tokens& tokens, CodeKind kind, const Rules& rules, Findings& findings);
// Host functions where only device code may be.
void find_host_code(const Tokens& tokens, Findings& findings);

// Token ranges [first, second) of the bodies of __device__ and __global__ functions.
std::vector<std::pair<std::size_t, std::size_t>> device_bodies(const Tokens& tokens);

// Whether the PTX text may stand in a kernel; else the offending instruction, register or directive, and its rule.
struct PtxProblem {
  std::string rule, what;
};
std::vector<PtxProblem> ptx_problems(std::string_view text);

}  // namespace kagent::gate
