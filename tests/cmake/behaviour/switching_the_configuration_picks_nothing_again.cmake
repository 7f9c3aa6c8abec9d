# SPDX-License-Identifier: Apache-2.0
# generators: Ninja Multi-Config
use_template()
configure()
build(--config Debug)
expect_picked()
build(--config Release)
expect_no_output("Picking")
expect_compiled(main.cpp ops.cpp scale.cpp)
build(--config Debug)
expect_output("ninja: no work to do.")
build(--config Release)
expect_output("ninja: no work to do.")
