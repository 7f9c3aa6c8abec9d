# SPDX-License-Identifier: Apache-2.0
# generators: Ninja, Ninja Multi-Config, Unix Makefiles
use_template()
configure()
build()
file(TIMESTAMP "${BUILD}/kagent/ops/scale/request.json" before "%s" UTC)
file(TOUCH "${PROJECT}/CMakeLists.txt")
build()
expect_output("Generating done")
expect_compiled()
expect_nothing_to_do()
