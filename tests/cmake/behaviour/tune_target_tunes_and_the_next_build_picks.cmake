# SPDX-License-Identifier: Apache-2.0
# generators: Unix Makefiles
use_template()
configure()
build()
expect_baseline()
build(--target scale-tune)
build()
expect_picked()
expect_compiled(scale.cpp)
expect_variant()
expect_nothing_to_do()
build(--target kagent-verify)
