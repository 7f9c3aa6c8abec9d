// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "values/variant.h"

namespace kagent::store {

// What variant.json holds, for people: "softmax sm_90 g003: 1.42x over baseline (1.06x over g002)" and why.
std::string commit_message(const Evidence& evidence);

}  // namespace kagent::store
