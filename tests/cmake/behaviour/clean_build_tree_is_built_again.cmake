# SPDX-License-Identifier: Apache-2.0
# generators: Ninja, Unix Makefiles
use_template()
configure()
build()
build(--target clean)
build()
expect_picked()
expect_compiled(main.cpp ops.cpp scale.cpp)
expect_baseline()
expect_nothing_to_do()
