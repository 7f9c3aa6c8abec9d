// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace kagent::toolchain {

// What NVRTC is asked for.
struct NvrtcJob {
  std::string name;  // of the source, in messages
  std::string source;
  std::vector<std::string> options;
  std::string instance;              // name expression of the kernel
  std::vector<std::string> symbols;  // name expressions of variables: "&ops::filter"
  std::vector<std::string> headers;  // "cub/cub.cuh": come first, precompiled; the source includes them too
  std::chrono::milliseconds time_limit{60'000};
};

struct NvrtcAnswer {
  bool ok = false;
  std::string problem;  // why there is no log: an option that is not allowed, NVRTC's own failure
  bool timed_out = false;
  bool precompiled = false;  // whether the headers came from their compiled form
  std::string log;
  std::string lowered_name;
  std::vector<std::string> lowered_symbols;  // as `symbols`
  std::string cubin;
};

// Compiles in this process. Headers that were precompiled once are kept for the next job with the same options.
class NvrtcCompiler {
 public:
  NvrtcAnswer compile(const NvrtcJob& job);

 private:
  std::string precompiled(const NvrtcJob& job);
  std::vector<std::pair<std::string, std::string>> known_;  // options and headers -> file, empty if it cannot be made
};

// "13.0"
std::string nvrtc_version();

// Whether an option may be given to NVRTC: definitions, include folders, standard, architecture, arithmetic, registers,
// diagnostics. None that writes files or that changes what is made.
bool is_allowed_option(const std::string& option);

}  // namespace kagent::toolchain
