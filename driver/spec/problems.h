// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "util/problems.h"

namespace kagent::spec {

using util::child_pointer;
using util::Problems;
using util::suggest;

}  // namespace kagent::spec
