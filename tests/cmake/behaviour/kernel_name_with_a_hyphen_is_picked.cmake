# SPDX-License-Identifier: Apache-2.0
# generators: Ninja, Unix Makefiles
use_template()
file(RENAME "${PROJECT}/golden/scale" "${PROJECT}/golden/sc-ale")
replace(golden/sc-ale/kernel.json [["kernel": "scale"]] [["kernel": "sc-ale"]])
call([[sc-ale TARGET ops SOURCE kernels/scale.cpp GOLDEN golden/sc-ale]])
configure()
build()
expect_picked()
expect_baseline()
expect_nothing_to_do()
