# SPDX-License-Identifier: Apache-2.0
# generators: Ninja
use_template()
configure(-DKAGENT_TUNE=MISSING -DCMAKE_BUILD_TYPE=Debug)
build()
expect_output("without optimisation")
expect_baseline()
expect_nothing_to_do()
