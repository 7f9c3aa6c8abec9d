// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "util/sandbox.h"
#include "util/subprocess.h"
#include "values/error.h"

namespace kagent::toolchain {

// The work folder's name inside the sandbox, and what it is called in objects that are made without one.
inline constexpr const char* kSeenWorkFolder = "/kagent";

// Where and how compilers, linkers and their like are run on untrusted input.
struct ToolProcess {
  std::filesystem::path working_folder;
  std::vector<std::filesystem::path> visible;  // read-only; the system's own folders always are
  std::vector<std::filesystem::path> covered;  // hidden
  std::chrono::milliseconds time_limit{60'000};
  std::uint64_t output_bytes = 4 << 20;  // printed on both streams; more ends the tool
  bool allow_unsandboxed = false;
  const util::SandboxState* sandbox = &util::sandbox_state();

  // The name by which a tool must be told of `work_folder`. In the sandbox it is always the same, so that nothing a
  // compiler writes can depend on where the folder lies.
  std::filesystem::path seen(const std::filesystem::path& work_folder) const;

  // Runs `argv` with read-write access to `work_folder` alone. Without a sandbox that works it refuses, unless it was
  // allowed to do without.
  Result<util::Finished> run(const std::vector<std::string>& argv, const std::filesystem::path& work_folder) const;
};

// The folders that a compiler's own files lie under and that its sandbox must show: nothing for one in /usr, and never
// the user's home.
std::vector<std::filesystem::path> installation_of(const std::filesystem::path& compiler);

// How a tool was stopped by a limit, in words ("took longer than 60000 ms"); empty if it ended by itself.
std::string limit_reached(const util::Finished& finished, std::chrono::milliseconds time_limit);

}  // namespace kagent::toolchain
