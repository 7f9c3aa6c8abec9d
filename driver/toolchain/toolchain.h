// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "values/binary.h"
#include "values/kernel_spec.h"

namespace kagent::toolchain {

struct CompileJob {
  std::string source_text;            // as rendered: what the build would compile
  std::filesystem::path work_folder;  // empty folder of this job alone; keeps source, object, executable and log
  // Style kernel: how it is launched, and what its expressions may name beside the sizes.
  std::optional<Launch> launch = {};
  std::map<std::string, std::int64_t> tunables = {};
};

// Turns source text into a Binary, with exactly the options that the build uses for this kernel.
// Safe to call from several threads at once.
class Toolchain {
 public:
  virtual ~Toolchain() = default;
  virtual Result<CompileResult> compile(const CompileJob& job) = 0;
  // For records: "g++ 12.2.0".
  virtual std::string compiler() const = 0;
  // For records: the compile command as one line, with placeholders for files.
  virtual std::string flags() const = 0;
};

}  // namespace kagent::toolchain
