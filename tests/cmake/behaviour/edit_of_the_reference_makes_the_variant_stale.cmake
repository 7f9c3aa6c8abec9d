# SPDX-License-Identifier: Apache-2.0
# generators: Ninja, Unix Makefiles
# starts from: tuned
use_tuned_project()
configure()
build()
expect_compiled(main.cpp ops.cpp scale.cpp)
expect_variant()
expect_nothing_to_do()

replace(golden/scale/reference.cpp [[3.0 * x[i]]] [[x[i] * 3.0]])
build()
expect_picked()
expect_compiled(scale.cpp)
expect_baseline()
expect_nothing_to_do()

replace(golden/scale/reference.cpp [[x[i] * 3.0]] [[3.0 * x[i]]])
build()
expect_compiled(scale.cpp)
expect_variant()
expect_nothing_to_do()
