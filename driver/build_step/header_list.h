// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "toolchain/compile_command.h"
#include "values/error.h"

namespace kagent::build_step {

// The project headers of a source with their contents' hashes.
struct HeaderList {
  std::vector<std::filesystem::path> paths;   // absolute, sorted
  std::map<std::string, std::string> hashes;  // path relative to the project (or the file name, outside) -> SHA-256
};

// Asks the compiler, or `cache_file` from an earlier call: what a source includes can only change when the options, the
// source or one of the headers change, and their contents are compared.
Result<HeaderList> list_headers(const toolchain::CompileCommand& command, const std::filesystem::path& source,
                                const std::string& source_hash, const std::filesystem::path& project,
                                const std::filesystem::path& cache_file);

// `path` relative to `folder` when it lies inside, else its file name: the same on every machine.
std::string portable_path(const std::filesystem::path& path, const std::filesystem::path& folder);

}  // namespace kagent::build_step
