# SPDX-License-Identifier: Apache-2.0
# generators: Ninja, Unix Makefiles
# starts from: tuned
use_tuned_project()
configure()
build()
expect_compiled(main.cpp ops.cpp scale.cpp)
expect_variant()
expect_nothing_to_do()

replace(kernels/scale.cpp [[// Every pass]] [[// Each pass]])
build()
expect_picked()
expect_compiled(scale.cpp)
expect_baseline()
expect_nothing_to_do()

replace(kernels/scale.cpp [[// Each pass]] [[// Every pass]])
build()
expect_compiled(scale.cpp)
expect_variant()
expect_nothing_to_do()
