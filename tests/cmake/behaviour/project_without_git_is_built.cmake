# SPDX-License-Identifier: Apache-2.0
# generators: Ninja
use_template()
file(REMOVE_RECURSE "${PROJECT}/.git")
configure()
build()
expect_baseline()
expect_nothing_to_do()
