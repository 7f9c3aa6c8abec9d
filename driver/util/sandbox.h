// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "util/subprocess.h"

namespace kagent::util {

// What a sandboxed command may see. The system (/usr, /lib*, /bin, /etc/ld.so.cache and the like) is always visible,
// read-only; /tmp and HOME are private and empty; there is no network.
struct SandboxView {
  std::vector<std::filesystem::path> read_only;   // missing ones are skipped
  std::vector<std::filesystem::path> read_write;
  std::vector<std::filesystem::path> covered;     // hidden under an empty folder, after the binds above
};

struct SandboxState {
  bool available = false;
  std::string description;  // "bubblewrap 0.8.0", or why not: "bwrap: ... Operation not permitted"
};

// Whether bubblewrap is installed and works here. Probed once a process, by running it.
const SandboxState& sandbox_state();

// The same command inside bubblewrap. Precondition: sandbox_state().available.
Command sandboxed(const Command& command, const SandboxView& view);

}  // namespace kagent::util
