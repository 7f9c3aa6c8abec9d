// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <sys/types.h>

namespace kagent::util {

struct TreeUse {
  std::uint64_t resident_bytes = 0;
  int tasks = 0;  // threads of all its processes
};

// What one process holds now, from /proc. Zero if it has ended.
TreeUse process_use(pid_t process);
// What a process and its descendants hold now, from /proc. Zero for what has ended meanwhile.
TreeUse tree_use(pid_t root);

}  // namespace kagent::util
