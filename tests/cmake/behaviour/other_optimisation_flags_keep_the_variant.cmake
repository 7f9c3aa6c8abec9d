# SPDX-License-Identifier: Apache-2.0
# generators: Ninja
# starts from: tuned
use_tuned_project()
configure("-DCMAKE_CXX_FLAGS=-fno-math-errno")
build()
expect_variant()
