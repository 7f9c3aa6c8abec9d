// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

namespace kagent {

// What machine code shows of a program's kernels, all of them together.
struct CodeFacts {
  std::map<std::string, double> numbers;  // under the patterns' names: "load_bits", "tensor_instructions"
  std::string text;                       // "1240 instructions: 40 % fp32, ...; global loads: 12 of 32 bits, ..."
  std::string reason;                     // why there is nothing of that
  std::vector<std::string> lines;         // "line 18, 'y[i] = x[i];': 4 instructions, ...", what stands out first
};

}  // namespace kagent
