// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

namespace kagent::proposer {

struct EmbeddedFile {
  std::string_view name;  // "task.txt", "sm_90.json"
  std::string_view text;
};

// The prompt's templates, the tables of the architectures and the schema of the answer: files of the source tree.
std::span<const EmbeddedFile> embedded_files();

// The text of one of them; empty if there is none of that name.
std::string_view embedded_file(std::string_view name);

}  // namespace kagent::proposer
