// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace kagent::cli {

// What `kagent doctor` says of one part.
struct Finding {
  std::string part;
  bool present = false;
  std::string found;    // version, path, or why not
  std::string without;  // what its absence costs
};

// What a program prints about its version: its first line, or the one with the release, as the CUDA Toolkit's have it.
enum class VersionLine { first, release };
Finding tool(const std::string& part, std::vector<std::string> argv, const std::string& without,
             VersionLine line = VersionLine::first);

// The parts that CUDA kernels need.
std::vector<Finding> cuda_findings();

}  // namespace kagent::cli
