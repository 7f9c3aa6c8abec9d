// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include "util/descriptor.h"
#include "util/subprocess.h"

namespace kagent::util {

struct Spawned {
  pid_t pid = -1;
  Descriptor output, error;  // read ends, non-blocking
};

// Starts the command, and returns once it has been exec'ed. Everything but the watching of limits.
Result<Spawned> spawn(const Command& command);

}  // namespace kagent::util
