# SPDX-License-Identifier: Apache-2.0
# generators: Ninja, Unix Makefiles
# starts from: tuned
use_tuned_project()
configure()
build()
git(pack-refs --all --prune)
build()
expect_compiled()
expect_variant()
expect_nothing_to_do()
git(branch -q -D "${BRANCH}")
build()
expect_compiled(scale.cpp)
expect_baseline()
expect_nothing_to_do()
