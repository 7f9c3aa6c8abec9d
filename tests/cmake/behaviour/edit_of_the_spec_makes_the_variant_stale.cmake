# SPDX-License-Identifier: Apache-2.0
# generators: Ninja, Unix Makefiles
# starts from: tuned
use_tuned_project()
configure()
build()
expect_compiled(main.cpp ops.cpp scale.cpp)
expect_variant()
expect_nothing_to_do()

replace(golden/scale/kernel.json [[{"n": 37}]] [[{"n": 41}]])
build()
expect_picked()
expect_compiled(scale.cpp)
expect_baseline()
expect_nothing_to_do()

replace(golden/scale/kernel.json [[{"n": 41}]] [[{"n": 37}]])
build()
expect_compiled(scale.cpp)
expect_variant()
expect_nothing_to_do()
