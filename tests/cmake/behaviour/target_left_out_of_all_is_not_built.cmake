# SPDX-License-Identifier: Apache-2.0
# generators: Ninja, Unix Makefiles
use_template()
call([[scale TARGET ops SOURCE kernels/scale.cpp GOLDEN golden/scale ARCHITECTURES x86-64-v2]])
file(APPEND "${PROJECT}/CMakeLists.txt" "set_target_properties(ops app PROPERTIES EXCLUDE_FROM_ALL ON)\n")
configure()
build()
expect_no_output("Picking")
expect_compiled()
build(--target app)
expect_picked()
expect_baseline()
