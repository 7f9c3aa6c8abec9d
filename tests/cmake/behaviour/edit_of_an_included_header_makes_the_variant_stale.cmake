# SPDX-License-Identifier: Apache-2.0
# generators: Ninja, Unix Makefiles
# starts from: tuned
use_tuned_project()
configure()
build()
expect_compiled(main.cpp ops.cpp scale.cpp)
expect_variant()
expect_nothing_to_do()

replace(kernels/tile.h [[constexpr float kFactor]] [[inline constexpr float kFactor]])
build()
expect_picked()
expect_compiled(scale.cpp)
expect_baseline()
expect_nothing_to_do()

replace(kernels/tile.h [[inline constexpr float kFactor]] [[constexpr float kFactor]])
build()
expect_compiled(scale.cpp)
expect_variant()
expect_nothing_to_do()
