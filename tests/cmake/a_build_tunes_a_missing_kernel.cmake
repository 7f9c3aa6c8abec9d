# SPDX-License-Identifier: Apache-2.0
use_template()
configure(-DKAGENT_TUNE=MISSING)
git(status --porcelain)
set(before "${output}")
build()
expect_picked()
expect_variant()
expect_nothing_to_do()

git(for-each-ref --format=%\(refname:short\) refs/heads/)
if(NOT output MATCHES "^kagent/scale/[a-z0-9_-]+/g001-[0-9a-f]+\nmain\n$")
  message(FATAL_ERROR "branches: ${output}")
endif()
git(status --porcelain)
expect_equal("${output}" "${before}")

# The result is remembered: another build tree picks it without tuning.
set(BUILD "${WORK}/second")
configure(-DKAGENT_TUNE=MISSING)
build()
expect_variant()
