# SPDX-License-Identifier: Apache-2.0
# generators: Ninja, Unix Makefiles
# starts from: tuned
use_tuned_project()
configure()
build()
expect_variant()
git(branch -q -D "${BRANCH}")
build()
expect_picked()
expect_compiled(scale.cpp)
expect_baseline()
expect_nothing_to_do()
