// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "values/device.h"
#include "values/launch.h"
#include "values/outcome.h"

namespace kagent {

// A compiled candidate (or baseline, or reference), ready for a runner.
struct Binary {
  std::filesystem::path executable;  // holds the code and the runner's runtime
  std::string object_hash;           // SHA-256 of the object file that the compiler made of the source
  std::string symbol;                // the entry's mangled name

  // Of CUDA code.
  std::filesystem::path cubin = {};   // instead of the executable: device code alone, for a trusted runner
  std::optional<Launch> launch = {};  // with a cubin: how `symbol` is launched, over sizes and `tunables`
  std::map<std::string, std::int64_t> tunables = {};
  std::map<std::string, std::string> constant_symbols = {};  // of the cubin: parameter -> its __constant__'s name there
  std::vector<DeviceUsage> device_usage = {};                // a kernel each
  std::string architecture = {};                             // "sm_90a"; empty for host code
};

// What a toolchain answers: a binary (outcome ok), or a failure of the candidate with its diagnostics.
struct CompileResult {
  Outcome outcome = Outcome::ok;
  std::string diagnostics;  // distilled, valid UTF-8, no terminal escapes; warnings too when ok
  Binary binary;            // when ok
  std::chrono::milliseconds duration{0};
};

}  // namespace kagent
