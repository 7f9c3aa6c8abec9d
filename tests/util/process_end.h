// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include <poll.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include "util/descriptor.h"

namespace kagent::test {

// Tells when a process that need not be a child of ours is gone. Opened while the process is alive (or gone already).
class ProcessEnd {
 public:
  explicit ProcessEnd(pid_t pid) : process_(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))) {}
  // Whether it is gone, waiting for it as long as a broken test needs to be noticed.
  bool comes() const {
    if (!process_) return true;
    pollfd ended{process_.get(), POLLIN, 0};
    return ::poll(&ended, 1, 20'000) == 1;
  }

 private:
  util::Descriptor process_;
};

// Processes anywhere whose command line holds `text`.
inline std::set<pid_t> processes_with(const std::string& text) {
  std::set<pid_t> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    std::ifstream file(entry.path() / "cmdline", std::ios::binary);
    const std::string line((std::istreambuf_iterator<char>(file)), {});
    if (line.find(text) != std::string::npos) found.insert(static_cast<pid_t>(std::stol(name)));
  }
  return found;
}

}  // namespace kagent::test
