# SPDX-License-Identifier: Apache-2.0
# generators: Ninja, Unix Makefiles
# starts from: tuned
use_tuned_project()
# Only the commit is left, so that what is built comes from the files of the checkout.
git(rev-parse "${BRANCH}")
string(STRIP "${output}" commit)
git(branch -q -D "${BRANCH}")
configure()
build()
expect_baseline()
git(checkout -q --detach "${commit}")
build()
expect_picked()
expect_compiled(scale.cpp)
expect_variant()
expect_nothing_to_do()
git(checkout -q main)
build()
expect_compiled(scale.cpp)
expect_baseline()
expect_nothing_to_do()
