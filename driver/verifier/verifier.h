// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "values/case_data.h"
#include "values/kernel_spec.h"
#include "values/run_result.h"
#include "values/verdict.h"

namespace kagent::verifier {

// Baseline's own error on the same inputs, an output parameter each: a candidate may have twice that, plus one ulp.
using BaselineErrors = std::map<std::string, OutputError>;

// The errors of a verdict on the baseline, for compare().
BaselineErrors baseline_errors(const Verdict& verdict);

// Compares the buffers after a call with what was expected: outputs element by element against the tolerance, the norm,
// the baseline's own error; non-finite classes position by position; inputs unchanged; guards intact.
Verdict compare(const KernelSpec& spec, const CallInputs& inputs, const Expected& expected,
                const std::vector<BufferImage>& images, const BaselineErrors* baseline = nullptr);

// An element that is bit-equal to its poison in both of two runs with different poison was not written.
Verdict check_written(const KernelSpec& spec, const CallInputs& inputs, const std::vector<BufferImage>& first,
                      std::uint8_t first_poison, const std::vector<BufferImage>& second, std::uint8_t second_poison);

// Bit by bit, over the written parameters; `unstable` unless rules.allow_nondeterminism.
Verdict check_repeat(const KernelSpec& spec, const CallInputs& inputs, const std::vector<BufferImage>& first,
                     const std::vector<BufferImage>& again);

// Two programs on the same inputs, each allowed the tolerance: used on timed calls, where no reference is at hand.
// Inputs that were not read back (read_written()) are not looked at.
Verdict compare_programs(const KernelSpec& spec, const CallInputs& inputs, const std::vector<BufferImage>& candidate,
                         const std::vector<BufferImage>& incumbent);

// Trivial outputs (all zero, a constant equal to the mean, a copy of an input of the same shape) that this case's
// tolerance would let pass: then the spec is too loose to prove anything, and the names say which.
std::vector<std::string> trivial_passes(const KernelSpec& spec, const CallInputs& inputs, const Expected& expected);

}  // namespace kagent::verifier
