// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "util/subprocess.h"

namespace kagent::util {

// What a sandboxed command may see. The system (/usr, /lib*, /bin, /etc/ld.so.cache and the like) is always visible,
// read-only; /tmp is private and empty; there is no home, no network and no other process.
// Where paths lie in one another the longer one decides; of equal ones the cover.
struct SandboxView {
  std::vector<std::filesystem::path> read_only;  // absolute; missing ones are skipped
  std::vector<std::filesystem::path> read_write;
  std::vector<std::filesystem::path> covered;  // hidden under an empty folder or file
  // A folder (first) that is shown read-write under another name (second), where it shadows what is there.
  std::vector<std::pair<std::filesystem::path, std::filesystem::path>> read_write_as = {};
  std::vector<std::filesystem::path> devices = {};  // nodes of /dev, or folders of them; missing ones are skipped
};

struct SandboxState {
  bool available = false;
  std::string description;        // "bubblewrap 0.8.0", or why not: "bwrap: ... Operation not permitted"
  std::filesystem::path program;  // absolute path of bwrap
  bool pid_namespace = false;     // see sandboxed()
};

// Whether bubblewrap is installed and works here. Probed once a process, by running it.
const SandboxState& sandbox_state();
// The probe itself, of the given program.
SandboxState probe_sandbox(const std::filesystem::path& program);

// The same command inside bubblewrap, in "/" unless it names a working folder. Its seccomp program binds what runs
// inside; its TMPDIR is the private /tmp. Precondition: state.available.
//
// bubblewrap's --die-with-parent leaves a gap: killed while it sets up, its inner process stays, and may even go on to
// run the command. So bubblewrap itself is put into a PID namespace, which the kernel clears whenever it dies. Where
// the system lets nobody but bubblewrap make namespaces (state.pid_namespace false) the gap of some milliseconds
// remains.
Command sandboxed(const Command& command, const SandboxView& view, const SandboxState& state = sandbox_state());

}  // namespace kagent::util
