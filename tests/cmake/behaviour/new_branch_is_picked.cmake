# SPDX-License-Identifier: Apache-2.0
# generators: Ninja, Unix Makefiles
# starts from: tuned
use_tuned_project()
git(rev-parse "${BRANCH}")
string(STRIP "${output}" commit)
git(branch -q -D "${BRANCH}")
configure()
build()
expect_baseline()
expect_nothing_to_do()
git(branch "${BRANCH}" "${commit}")
build()
expect_picked()
expect_compiled(scale.cpp)
expect_variant()
expect_nothing_to_do()
