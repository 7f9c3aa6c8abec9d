# SPDX-License-Identifier: Apache-2.0
# generators: Ninja, Unix Makefiles
# starts from: tuned
use_tuned_project()
configure()
build()
write(README "not an input\n")
git(add README)
git(commit -q -m "Unrelated")
build()
expect_compiled()
expect_variant()
expect_nothing_to_do()
