// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "values/launch.h"

namespace kagent::build_step {

// C++14 that stands in front of a kernel's source and that the launcher behind it calls: exact arithmetic, the limits
// of a launch, what its parameters have to be, and what this launch needs beside. Its names begin with "kagent" or
// "Kagent".
std::string launcher_prelude(const Launch& launch);

}  // namespace kagent::build_step
