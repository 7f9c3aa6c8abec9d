// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

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

}  // namespace kagent::test
