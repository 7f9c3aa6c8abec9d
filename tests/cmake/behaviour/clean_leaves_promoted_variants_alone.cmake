# SPDX-License-Identifier: Apache-2.0
# generators: Ninja, Unix Makefiles
# starts from: tuned
use_tuned_project()
git(checkout -q "${BRANCH}")
configure()
build()
expect_variant()
build(--target clean)
git(status --porcelain)
expect_equal("${output}" "")
build()
expect_variant()
