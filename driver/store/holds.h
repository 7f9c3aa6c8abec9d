// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "values/error.h"
#include "values/hold.h"

namespace kagent::store {

// The rollbacks of one repository: a JSON file in the state folder. Empty if there is none. A file that cannot be read
// is an error, since going on without it would build what somebody took back.
Result<std::vector<Hold>> read_holds(const std::filesystem::path& file);
// Atomic. The caller holds the lock of the variants, from reading to writing.
Result<void> write_holds(const std::filesystem::path& file, const std::vector<Hold>& holds);

}  // namespace kagent::store
