# SPDX-License-Identifier: Apache-2.0
# generators: Ninja, Unix Makefiles
# starts from: tuned
use_tuned_project()
configure()
build()
expect_variant()
configure("-DCMAKE_CXX_FLAGS=-DOTHER")
build()
expect_compiled(main.cpp ops.cpp scale.cpp)
expect_baseline()
expect_nothing_to_do()
