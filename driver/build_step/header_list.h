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
  std::map<std::string, std::string> hashes;  // name in the key -> SHA-256
};

// Where a project's own files lie. A build folder inside the project is not a part of it.
struct OwnFolders {
  std::filesystem::path project, build;
};

// Asks the compiler, or `cache_file` from an earlier call: what a source includes can only change when the options, the
// source or one of the headers change, and their contents are compared.
Result<HeaderList> list_headers(const toolchain::CompileCommand& command, const std::filesystem::path& source,
                                const std::string& source_hash, const OwnFolders& own,
                                const std::filesystem::path& cache_file);

// Names that are the same on every machine, one for each path: relative to the project, "${BUILD}/..." below the build
// folder, else the file name (with a number where that is taken).
std::vector<std::string> portable_names(const std::vector<std::filesystem::path>& paths, const OwnFolders& own);

}  // namespace kagent::build_step
