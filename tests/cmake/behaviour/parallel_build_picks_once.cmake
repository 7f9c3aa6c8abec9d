# SPDX-License-Identifier: Apache-2.0
# generators: Ninja, Unix Makefiles
use_template()
configure()
build(--parallel 8)
string(REGEX MATCHALL "Picking scale" picks "${output}")
expect_equal("${picks}" "Picking scale")
expect_nothing_to_do(--parallel 8)
