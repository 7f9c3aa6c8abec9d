# SPDX-License-Identifier: Apache-2.0
# generators: Ninja
use_template()
configure(-DKAGENT_TUNE=MISSING)
set(ENV{CI} true)
build()
expect_output("CI is set")
expect_baseline()
git(for-each-ref refs/heads/kagent)
expect_equal("${output}" "")
