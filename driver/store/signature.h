// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "store/git.h"

namespace kagent::store {

// Who commits, as git would say: GIT_<role>_NAME, _EMAIL and _DATE, then the configuration, else 'kagent'.
// `role` is AUTHOR or COMMITTER. Null on failure, with git's last error set.
git::Signature signature(git_repository* repository, const std::string& role);

}  // namespace kagent::store
